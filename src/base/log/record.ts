// The fields of a log line besides its message.

/** Values by name, printed as `name=value` behind the message. */
export type Fields = Readonly<Record<string, unknown>>;
