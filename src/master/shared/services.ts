// What runners may do with the things that masters share.
import { HaliteError } from '../../base/errors/index.ts';
import { isValidMinionId } from '../../base/util/valid-id.ts';
import type { ClusterServices } from '../../extend/sdk/index.ts';
import type { AesChange } from '../sign-in/aes-change.ts';
import { importKeys } from './import-keys.ts';
import type { SharedKeys } from './keys.ts';
import type { Renewals } from './renewals.ts';

export interface ClusterServiceParts {
  readonly aesChange: AesChange;
  readonly renewals: Pick<Renewals, 'renew'>;
  readonly member: string;
  /** Only with other masters. */
  readonly sharedKeys?: SharedKeys;
}

export function clusterServices({ aesChange, renewals, member, sharedKeys }: ClusterServiceParts): ClusterServices {
  return {
    rotateAes: () => aesChange.now(),
    renewSessions: async (ids) => {
      const wrong = ids.find((id) => !isValidMinionId(id));
      if (wrong !== undefined) throw new HaliteError('call.arguments', `'${wrong}' is not a minion id`);
      for (const id of ids) await renewals.renew(id);
    },
    importKeys: async (options) => {
      if (!sharedKeys) throw needsCluster();
      return importKeys({ keys: sharedKeys, member }, options);
    },
  };
}

const needsCluster = (): HaliteError =>
  new HaliteError('call.failed', 'This master is not a member of a cluster', {
    hint: 'Its key folders are all there is: copy the files there.',
  });
