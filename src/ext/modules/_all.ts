// Every module of this folder in one list, for tests that go through all of them.
import type { Module } from 'halite/sdk';
import pkg from './aptpkg/index.ts';
import cmd from './cmd/index.ts';
import config from './config.ts';
import cp from './cp/index.ts';
import defaults from './defaults.ts';
import disk from './disk.ts';
import environ from './environ.ts';
import event from './event/index.ts';
import file from './file/index.ts';
import grains from './grains/index.ts';
import group from './groupadd.ts';
import hashutil from './hashutil.ts';
import key from './key.ts';
import log from './log.ts';
import match from './match.ts';
import mine from './mine/index.ts';
import network from './network/index.ts';
import pillar from './pillar.ts';
import ps from './ps/index.ts';
import random from './random.ts';
import saltutil from './saltutil/index.ts';
import slsutil from './slsutil/index.ts';
import status from './status/index.ts';
import sys from './sys/index.ts';
import system from './system.ts';
import service from './systemd_service/index.ts';
import test from './test.ts';
import timezone from './timezone.ts';
import user from './useradd.ts';

export const allModules: readonly Module[] = [
  ...[cmd, config, cp, defaults, disk, environ, event, file, grains, group, hashutil, key, log, match, mine, network],
  ...[pillar, pkg, ps, random, saltutil, service, slsutil, status, sys, system, test, timezone, user],
];
