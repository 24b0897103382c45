// Parameters of `git.latest`.
import { type ArgsOf, p } from 'halite/sdk';
import { https, identity, output_encoding, who } from './shared.ts';

export const params = {
  name: p.string({ doc: 'address of the repository' }),
  target: p.scalar({ nullable: true, doc: 'folder of the checkout' }),
  rev: p.scalar({ default: 'HEAD', nullable: true, doc: 'branch, tag or SHA1' }),
  branch: p.scalar({ default: null, doc: 'local branch' }),
  ...who,
  update_head: p.bool({ default: true, doc: 'false: only fetch' }),
  force_checkout: p.bool({ default: false, doc: 'discard changes when another branch is checked out' }),
  force_clone: p.bool({ default: false, doc: 'empty a folder that is not a checkout' }),
  force_fetch: p.bool({ default: false, doc: 'also fetch updates that are not fast-forward' }),
  force_reset: p.scalar({
    default: false,
    nullable: true,
    doc: 'discard local changes and commits; `remote-changes`: only when the remote has changed',
  }),
  submodules: p.bool({ default: false, doc: 'also submodules' }),
  bare: p.bool({ default: false, doc: 'without working files' }),
  mirror: p.bool({ default: false, doc: 'as a mirror' }),
  remote: p.scalar({ default: 'origin', nullable: true, doc: 'name of the remote' }),
  fetch_tags: p.bool({ default: true, doc: 'also tags' }),
  sync_tags: p.bool({ default: true, doc: 'remove tags the remote does not have' }),
  depth: p.scalar({ default: null, doc: 'how many commits to clone' }),
  identity,
  ...https,
  refspec_branch: p.string({ default: '*', doc: 'branches to fetch' }),
  refspec_tag: p.string({ default: '*', doc: 'tags to fetch' }),
  output_encoding,
  kwargs: p.kwargs({ doc: 'nothing else is accepted' }),
};
export type LatestArgs = ArgsOf<typeof params>;
