"""Views: what people see of runs and how they steer them; the only room that knows Panel, Bokeh and HoloViews."""
