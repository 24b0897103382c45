// Returner `redis_return`: the name of Salt's file, under which documentation and configurations know `redis`.
import { defineReturner } from 'halite/sdk';
import { redisSpec } from './redis/index.ts';

export default defineReturner({ name: 'redis_return', optionPrefix: 'redis', ...redisSpec });
