// The location of `halite/sdk` for users' extension files, which are outside any package.
import { bundleFile } from '../../base/util/bundle-file.ts';

/** The URL of the built SDK; undefined while nothing is built (tests of the sources). */
export function sdkUrl(): string | undefined {
  try {
    return bundleFile('sdk').href;
  } catch {
    return undefined;
  }
}
