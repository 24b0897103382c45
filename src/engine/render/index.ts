// Rendering: pipes of renderers, Jinja, and their dependencies.
export type { FileSource, RenderHost, SaltFunctions, SourceFile } from './host.ts';
export { parsePipe, shebangOf, shebangOfString } from './pipe.ts';
export { decodeSource, readSource } from './read-source.ts';
export { applyRenderer, renderFile, renderText, type StepWatcher } from './renderer.ts';
export { slsNames } from './sls-context.ts';
