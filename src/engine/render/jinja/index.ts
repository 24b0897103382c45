// The Jinja engine: environments for any caller, and rendering as Salt does it.
export {
  type Context,
  createEnvironment,
  type EnvironmentOptions,
  type JinjaEnvironment,
  type LoadedSource,
  type Loader,
  type RenderOptions,
} from './environment.ts';
export { JinjaError, PyError, sourceExcerpt, type TemplateFrame } from './errors.ts';
export { PyFunction } from './runtime/callable.ts';
export { define, defineBound } from './runtime/define.ts';
export { Bridge, type HostFunction, toHost } from './runtime/host.ts';
export { PyObject, type PyValue, shownClass } from './runtime/value.ts';
export { type SaltFunctionSource, SaltFunctions, saltFunctions } from './salt/functions.ts';
export {
  renderSaltTemplate,
  SaltRenderError,
  type SaltTemplateOptions,
  saltRenderError,
} from './salt/render.ts';
