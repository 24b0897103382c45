// Templates as states use them.
import type { RenderRequest, StateContext, Value } from 'halite/sdk';

/** What the context offers beside calls and commands. */
interface Services {
  render(text: string, request?: RenderRequest): Promise<Value>;
}

export const servicesOf = (ctx: StateContext): Services => ctx as StateContext & Services;
