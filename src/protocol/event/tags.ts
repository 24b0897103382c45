// The tags of Salt's own events, each built in one place.

export const jobNewTag = (jid: string): string => `salt/job/${jid}/new`;
export const jobReturnTag = (jid: string, id: string): string => `salt/job/${jid}/ret/${id}`;

export const beaconTag = (id: string, beacon: string): string => `salt/beacon/${id}/${beacon}/`;

export const runNewTag = (jid: string): string => `salt/run/${jid}/new`;
export const runReturnTag = (jid: string): string => `salt/run/${jid}/ret`;
export const wheelNewTag = (jid: string): string => `salt/wheel/${jid}/new`;
export const wheelReturnTag = (jid: string): string => `salt/wheel/${jid}/ret`;
