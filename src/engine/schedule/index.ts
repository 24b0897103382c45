// Scheduled jobs.
export { isSetting } from './entry.ts';
export { answerSchedule } from './requests.ts';
export { readSaved, savedPath, savedVersion, writeSaved } from './saved.ts';
export { Schedule, type ScheduledRun, type ScheduleHost } from './schedule.ts';
