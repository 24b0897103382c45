// The loader: extensions by kind and name, imported on first use.
export { docstring } from './docstring.ts';
export type { BuiltinEntry, BuiltinTable, ExtensionKinds, FunctionKind, Kind } from './kinds.ts';
export { callableNames, type FoundFunction, type Loaded, Loader, type LoaderOptions } from './loader.ts';
export type {
  PythonCall,
  PythonCaller,
  PythonDescription,
  PythonFinder,
  PythonFunction,
  PythonHost,
  PythonRendering,
  PythonSource,
} from './python.ts';
export { createRegistry } from './registry.ts';
export { sdkUrl } from './sdk-url.ts';
export { findUserFiles, type UserFile, userFolders, utilsFolders } from './user-folders.ts';
