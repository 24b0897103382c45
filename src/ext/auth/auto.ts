// Authentication module `auto`: accepts everybody, for experiments.
import { defineAuth } from 'halite/sdk';

export default defineAuth({
  name: 'auto',
  doc: 'Accepts every name with every password. Only for experiments.',
  caution: 'auto accepts every name with every password: use it only for experiments',
  open: () => ({ check: () => ({}) }),
});
