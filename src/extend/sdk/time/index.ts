// `halite/sdk/time`: dates as text and back, with Python's formats and the machine's time zone.
export { parseDateText } from '../../../base/util/date-text.ts';
export { strftime } from '../../../base/util/strftime.ts';
export { parseLocalTime, parseTime } from '../../../base/util/strptime.ts';
export { zoneAbbreviation, zoneOffset } from '../../../base/util/time-zone.ts';
