// Beacons: what a minion watches and reports to its masters.
export { Beacons, type Validity } from './beacons.ts';
export { answerBeacons } from './requests.ts';
export { readSavedBeacons, savedBeaconsPath, writeSavedBeacons } from './saved.ts';
export { availableBeacons, prepareBeacon } from './validate.ts';
export { BeaconWorker } from './worker.ts';
