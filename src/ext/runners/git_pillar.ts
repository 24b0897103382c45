// Runner `git_pillar`: fetches the repositories of git pillars immediately, instead of at the next interval.
import { defineRunner, dictEntries, HaliteError, masterFn, p } from 'halite/sdk';

export default defineRunner({
  name: 'git_pillar',
  doc: 'Updates the repositories of git pillars.',
  functions: {
    update: masterFn({
      doc: 'Fetches one or all remotes of git_pillar: True for something new, None for nothing new, False for a failure.',
      examples: [
        'salt-run git_pillar.update',
        "salt-run git_pillar.update branch='prod' repo='https://example.com/pillar.git'",
      ],
      params: {
        branch: p.string({ default: null, doc: 'only remotes of this branch' }),
        repo: p.string({ default: null, doc: 'only the remote of this address or name' }),
      },
      async run({ branch, repo }, ctx) {
        const found = await ctx.master.pillars.update('git', { branch: branch ?? undefined, repo: repo ?? undefined });
        if (dictEntries(found).length > 0) return found;
        throw new HaliteError(
          'call.failed',
          branch === null && repo === null
            ? 'No git_pillar remotes are configured'
            : 'Specified git branch/repo not found in ext_pillar config',
        );
      },
    }),
  },
});
