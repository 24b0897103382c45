// The state engine: top files, SLS, high and low data, requisites, runs.
