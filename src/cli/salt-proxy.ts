// Command `salt-proxy`.
import { loadProxyConfig } from '../base/config/proxy.ts';
import type { LoadRequest } from '../base/config/request.ts';
import { keepHeapSmall } from '../base/util/small-heap.ts';
import { runDaemon } from './daemon.ts';
import { run } from './main.ts';
import { saltProxySpec } from './options/daemons.ts';

run((argv) => {
  let request: LoadRequest = {};
  return runDaemon(
    {
      spec: saltProxySpec(),
      load: (asked) => {
        request = asked;
        return loadProxyConfig(asked, String(asked.cli?.['proxyid'] ?? ''));
      },
      run: async (opts, log) => {
        const { runProxy } = await import('../minion/proxy/main.ts');
        keepHeapSmall();
        return runProxy(opts, log, (id) => loadProxyConfig(request, id).opts);
      },
    },
    argv,
  );
});
