// Records of Route 53 against a server that answers as the service documents, and the signature of requests.
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { newDict } from 'halite/sdk';
import { testContext } from 'halite/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import config from '../config.ts';
import route53 from './index.ts';
import { signedHeaders } from './sign.ts';

it('signs as AWS shows in its example', () => {
  const url = new URL('https://example.amazonaws.com/');
  const time = new Date('2015-08-30T12:36:00Z');
  const request = { method: 'GET', url, body: '', region: 'us-east-1', service: 'service', time };
  const owner = { keyid: 'AKIDEXAMPLE', key: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
  expect(signedHeaders(request, owner)['authorization']).toBe(
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date, Signature=5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31',
  );
});

describe('records', () => {
  const zones = `<?xml version="1.0"?>
<ListHostedZonesByNameResponse xmlns="https://route53.amazonaws.com/doc/2013-04-01/"><HostedZones>
<HostedZone><Id>/hostedzone/Z1</Id><Name>example.com.</Name><Config><PrivateZone>false</PrivateZone></Config></HostedZone>
<HostedZone><Id>/hostedzone/Z2</Id><Name>example.com.</Name><Config><PrivateZone>true</PrivateZone></Config></HostedZone>
</HostedZones></ListHostedZonesByNameResponse>`;
  const sets = `<ListResourceRecordSetsResponse><ResourceRecordSets>
<ResourceRecordSet><Name>\\052.example.com.</Name><Type>A</Type><TTL>300</TTL><ResourceRecords><ResourceRecord><Value>192.0.2.1</Value></ResourceRecord><ResourceRecord><Value>192.0.2.2</Value></ResourceRecord></ResourceRecords></ResourceRecordSet>
<ResourceRecordSet><Name>www.example.com.</Name><Type>A</Type><SetIdentifier>blue</SetIdentifier><Weight>10</Weight><TTL>60</TTL><ResourceRecords><ResourceRecord><Value>192.0.2.3</Value></ResourceRecord></ResourceRecords></ResourceRecordSet>
</ResourceRecordSets></ListResourceRecordSetsResponse>`;
  const refused = '<ErrorResponse><Error><Code>AccessDenied</Code><Message>not yours</Message></Error></ErrorResponse>';
  const insync = '<R><ChangeInfo><Id>/change/C1</Id><Status>INSYNC</Status></ChangeInfo></R>';
  const seen: { method: string; path: string; body: string }[] = [];
  let server: Server;
  beforeAll(async () => {
    server = createServer((request, response) => {
      let body = '';
      request.on('data', (piece: Buffer) => {
        body += piece.toString();
      });
      request.on('end', () => {
        const path = request.url ?? '';
        seen.push({ method: request.method ?? '', path, body });
        const allowed = request.headers.authorization?.includes('Credential=ID/');
        response.statusCode = allowed ? 200 : 403;
        const found = path.includes('hostedzonesbyname') ? zones : request.method === 'POST' ? insync : sets;
        response.end(allowed ? found : refused);
      });
    });
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
  });
  afterAll(() => server.close());

  const call = (fun: string, args: string[], kwargs: object = {}) => {
    const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const dns = newDict(Object.entries({ keyid: 'ID', key: 'SECRET' }));
    const ctx = testContext({ modules: [config, route53], opts: { 'route53.endpoint': endpoint, dns } });
    return ctx.callWith(`boto_route53.${fun}`, args, newDict(Object.entries({ profile: 'dns', ...kwargs })));
  };

  it('are found by name and kind', async () => {
    expect(await call('zone_exists', ['example.com'])).toBe(true);
    expect(await call('zone_exists', ['example.org'])).toBe(false);
    expect(await call('get_record', ['*.example.com', 'example.com.', 'a'])).toEqual({
      ...{ name: '*.example.com.', value: '192.0.2.1,192.0.2.2', record_type: 'A', ttl: '300' },
    });
    expect(await call('get_record', ['www.example.com', 'example.com', 'A'], { identifier: 'blue' })).toMatchObject({
      identifier: ['blue', '10'],
    });
    expect(await call('get_record', ['www.example.com', 'example.com', 'A'], { identifier: 'green' })).toEqual({});
    expect(await call('get_record', ['none.example.com', 'example.com', 'A'])).toEqual({});
    expect(await call('get_record', ['x.example.org', 'example.org', 'A'])).toBeNull();
  });

  it('are added, changed and removed in the right zone', async () => {
    seen.length = 0;
    const two = ['new.example.com', '192.0.2.7,192.0.2.8', 'example.com', 'A'];
    expect(await call('add_record', two, { ttl: 30, split_dns: true, private_zone: true })).toBe(true);
    const added = seen.at(-1);
    expect(added?.path).toBe('/2013-04-01/hostedzone/Z2/rrset/');
    for (const part of [
      '<Action>CREATE</Action>',
      '<TTL>30</TTL>',
      '<Value>192.0.2.7</Value>',
      '<Value>192.0.2.8</Value>',
    ])
      expect(added?.body).toContain(part);
    expect(await call('update_record', ['*.example.com', '<&>', 'example.com', 'A'])).toBe(true);
    expect(seen.at(-1)?.body).toContain('<Name>\\052.example.com.</Name>');
    expect(seen.at(-1)?.body).toContain(
      '<TTL>300</TTL><ResourceRecords><ResourceRecord><Value>&#60;&#38;&#62;</Value>',
    );
    expect(await call('delete_record', ['www.example.com', 'example.com', 'A'])).toBe(true);
    expect(seen.at(-1)?.body).toContain('<SetIdentifier>blue</SetIdentifier><Weight>10</Weight>');
    expect(await call('delete_record', ['none.example.com', 'example.com', 'A'])).toBe(false);
    expect(await call('update_record', ['x.example.org', 'v', 'example.org', 'A'])).toBe(false);
  });

  it('need valid credentials', async () => {
    await expect(call('zone_exists', ['example.com'], { keyid: 'OTHER', key: 'X' })).rejects.toThrow(/403: not yours/);
  });
});
