// Files and rendering of a state run on a minion: the file client and the render pipeline of that run.
import type { StateSession } from './run/session.ts';
import type { SlsRenderer, StateFiles } from './sources.ts';

/** The tree as seen by the minion's file client. */
export function clientFiles(session: StateSession): StateFiles {
  const { files } = session.context();
  return {
    envs: () => files.envs(),
    fileList: (saltenv) => files.list('files', saltenv),
    cacheFile: async (url, saltenv) => (await files.cacheFile(url, { saltenv })) || undefined,
  };
}

/** The render pipeline, with grains, pillar and modules as they are at that moment of the run. */
export function pipelineRenderer(session: StateSession): SlsRenderer {
  return {
    render: ({ path, saltenv, sls, context }) =>
      session.context().renderFile(path, { saltenv, sls, ...(context ? { context } : {}) }),
    renderText: async (text) => (text.trim() === '' ? null : session.context().render(text)),
  };
}
