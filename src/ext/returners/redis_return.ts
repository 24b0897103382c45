// Returner `redis_return`: another name of `redis`, used in Salt's documentation and in configurations.
import { defineReturner } from 'halite/sdk';
import { redisSpec } from './redis/index.ts';

export default defineReturner({ name: 'redis_return', optionPrefix: 'redis', ...redisSpec });
