// The time in an event, as Salt 3006 and 3007 write it: UTC with microseconds and without zone.

let offset = Date.now() - performance.now();

/** `2024-05-01T12:00:00.123456`. Follows the wall clock, with the microseconds of a monotonic clock. */
export function eventStamp(): string {
  const wall = Date.now();
  let fine = offset + performance.now();
  if (Math.abs(wall - fine) > 2) {
    offset = wall - performance.now();
    fine = wall;
  }
  const millis = Math.floor(fine);
  const micros = Math.floor((fine - millis) * 1000);
  return new Date(millis).toISOString().slice(0, 23) + String(micros).padStart(3, '0');
}
