// Kinds of events the parser produces.

export const E = {
  streamStart: 0,
  streamEnd: 1,
  documentStart: 2,
  documentEnd: 3,
  alias: 4,
  scalar: 5,
  sequenceStart: 6,
  sequenceEnd: 7,
  mappingStart: 8,
  mappingEnd: 9,
} as const;

export type EventType = (typeof E)[keyof typeof E];
