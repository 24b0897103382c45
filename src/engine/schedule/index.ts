// Scheduled jobs.
export { isSetting } from './entry.ts';
export { answerSchedule } from './requests.ts';
export { readSaved, savedPath, writeSaved } from './saved.ts';
export { Schedule, type ScheduledRun, type ScheduleHost } from './schedule.ts';
