// Counting, and the text that Prometheus reads.
export { Histogram, Tally } from './counts.ts';
export { type Family, metricsText, metricsType, type Sample } from './text.ts';
