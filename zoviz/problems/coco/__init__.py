"""Problems of COCO, the platform for comparing continuous optimisers."""
