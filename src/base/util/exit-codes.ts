// Exit codes of Salt's programs.
export const exitCodes = {
  ok: 0,
  /** A minion returned an error or did not return; also a state that did not compile. */
  generic: 1,
  stateCompilerError: 1,
  stateFailure: 2,
  /** Nothing received, login failed or nothing matched. */
  noReturn: 2,
  pillarFailure: 5,
  thinPythonInvalid: 10,
  thinDeploy: 11,
  thinChecksum: 12,
  modDeploy: 13,
  scpNotFound: 14,
  /** One of several operations failed. */
  aggregate: 20,
  usage: 64,
  noUser: 67,
  unavailable: 69,
  software: 70,
  cantCreate: 73,
  tempFail: 75,
  noPermission: 77,
  /** "Restart me", to the supervising process. */
  keepAlive: 99,
  buildFail: 101,
} as const;
