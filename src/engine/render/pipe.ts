// Which renderers process a text: its `#!` line, or the default pipe.

export interface PipeStep {
  readonly name: string;
  /** The arguments after the name: `-s` in `jinja -s`. */
  readonly argline: string;
}

/** Names from before pipes existed. */
const oldStyle: Readonly<Record<string, string>> = {
  yaml_jinja: 'jinja|yaml',
  yaml_mako: 'mako|yaml',
  yaml_wempy: 'wempy|yaml',
  json_jinja: 'jinja|json',
  json_mako: 'mako|json',
  json_wempy: 'wempy|json',
  yamlex_jinja: 'jinja|yamlex',
  // As in Salt: these two names contain a typing error that became permanent.
  yamlexyamlex_mako: 'mako|yamlexyamlex',
  yamlexyamlex_wempy: 'wempy|yamlexyamlex',
};

/** The pipe in the first line of a file; undefined when there is none. */
export function shebangOf(text: string): string | undefined {
  if (!text.startsWith('#!') || text.startsWith('#!/')) return undefined;
  const end = text.search(/[\n\r]/);
  return (end < 0 ? text : text.slice(0, end)).trim().slice(2);
}

/** As in Salt: for a text that is not a file, only the first word is read. */
export function shebangOfString(text: string): string | undefined {
  return shebangOf(/\S+/.exec(text)?.[0] ?? '');
}

export function parsePipe(pipe: string): PipeStep[] {
  const spelled = Object.hasOwn(oldStyle, pipe) ? oldStyle[pipe]! : pipe;
  return spelled.split('|').map((part) => {
    const step = part.trim();
    const space = step.indexOf(' ');
    return space < 0
      ? { name: step, argline: '' }
      : { name: step.slice(0, space), argline: step.slice(space + 1).trim() };
  });
}
