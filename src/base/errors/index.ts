// Errors: one class, one list of codes.
export { type ErrorCode, errorCodes } from './codes.ts';
export { type ErrorExtras, HaliteError, messageOf } from './error.ts';
export { PythonEnded, PythonException, type PythonPlace } from './python-exception.ts';
