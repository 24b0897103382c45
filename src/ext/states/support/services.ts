// Files and templates as states use them.
import type { RenderRequest, StateContext, Value } from 'halite/sdk';
import type { FileClient } from '../../../extend/sdk/files.ts';

/** What the context offers beside calls and commands. */
export interface Services {
  readonly files: FileClient;
  render(text: string, request?: RenderRequest): Promise<Value>;
}

export const servicesOf = (ctx: StateContext): Services => ctx as StateContext & Services;
export const filesOf = (ctx: StateContext): FileClient => servicesOf(ctx).files;
