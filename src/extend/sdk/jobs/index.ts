// `halite/sdk/jobs`: job ids, and functions to filter and format lists of jobs.
export { exitCodes } from '../../../base/util/exit-codes.ts';
export { isJid, jidDir, jidOf, jidToMillis, jidToTime } from '../../../base/util/jid.ts';
export { keepSeconds } from '../../../base/util/keep-jobs.ts';
export { jidRange, jobTest, traitsOf } from '../job-filter.ts';
export { formatJob, listedJob, startTime } from '../shown-job.ts';
