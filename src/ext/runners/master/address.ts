// What may be handed to minions as the address of a master.
const pattern = /^(\[[0-9A-Fa-f:]+\]|[A-Za-z0-9][A-Za-z0-9._-]*)(:\d{1,5})?$/;

export const isAddress = (text: string): boolean => pattern.test(text);
