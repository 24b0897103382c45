// What modules for services of simple init systems have in common: which services there are, and which start at boot.
import { fn, p } from 'halite/sdk';

export const serviceName = p.string({ doc: 'the service' });
export const serviceKwargs = p.kwargs({ doc: 'no effect' });

/** Functions of every service module that change nothing. */
export const readingServices: readonly string[] = [
  'status',
  'available',
  'missing',
  'get_all',
  'get_enabled',
  'get_disabled',
  'enabled',
  'disabled',
  'show',
];

/** Those of systemd's units besides. */
export const readingUnits: readonly string[] = ['masked', 'execs', 'get_static', 'get_running', 'offline'];

export interface BootServices {
  names(): string[];
  isEnabled(service: string): boolean;
  isDisabled(service: string): boolean;
}

export function bootFunctions({ names, isEnabled, isDisabled }: BootServices) {
  const list = (doc: string, example: string, wanted: (service: string) => boolean) =>
    fn({ doc, examples: [`salt '*' service.${example}`], params: {}, run: () => names().filter(wanted) });
  const asked = (doc: string, example: string, holds: (service: string) => boolean) => ({
    doc,
    examples: [`salt '*' service.${example} <service name>`],
    run: (args: { readonly name: string }) => holds(args.name),
  });
  const isThere = (service: string): boolean => names().includes(service);
  const params = { name: serviceName };
  const withMore = { name: serviceName, kwargs: serviceKwargs };
  return {
    available: fn({ ...asked('Whether there is a service of this name.', 'available', isThere), params }),
    missing: fn({ ...asked('Whether there is no service of this name.', 'missing', (one) => !isThere(one)), params }),
    get_all: list('The services.', 'get_all', () => true),
    get_enabled: list('The services that are enabled at boot.', 'get_enabled', isEnabled),
    get_disabled: list('The services that are disabled at boot.', 'get_disabled', (one) => !isEnabled(one)),
    enabled: fn({ ...asked('Whether a service is enabled at boot.', 'enabled', isEnabled), params: withMore }),
    disabled: fn({
      ...asked('Whether a service is disabled at boot.', 'disabled', isDisabled),
      params: withMore,
    }),
  };
}
