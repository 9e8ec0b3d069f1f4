"""Problems of the CUTEst collection, by their S2MPJ translation."""
