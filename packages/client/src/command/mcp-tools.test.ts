import { until } from '@vat/testkit';
import { openScriptedService, refusal, type ScriptedService } from '../scripted-service.fixture.js';
import { TOOLS } from './mcp-tools.js';

let service: ScriptedService;
beforeAll(async () => {
  service = await openScriptedService();
});
afterAll(() => service?.close());

it('a check that was answered 202 is pending once the time of a call is over, and any other one fails', async () => {
  const check = (signal: AbortSignal) => TOOLS.check_vat_number?.run(service.client, { vat_number: 'DE100' }, signal);
  const late = new AbortController();
  service.script({ status: 202, body: { request_id: 'req_1', status: 'pending' } }, 'wait');
  const accepted = check(late.signal);
  await until('the read of the request', () => service.calls.length === 2);
  late.abort();
  expect(await accepted).toMatchObject({ status: 'pending', request_id: 'req_1' });
  service.script('wait');
  await expect(check(AbortSignal.abort(new Error('late')))).rejects.toThrow('late');
});

it('evidence has the public page of each check when it is wanted, and none where the service has no such pages', async () => {
  const find = (links: boolean) =>
    TOOLS.find_evidence?.run(service.client, { limit: 2, public_links: links }, new AbortController().signal);
  const page = { body: { data: [{ id: 'chk_1' }, { id: 'chk_2' }], next_cursor: null } };
  const link = (id: string) => ({ body: { url: `https://vat.example.com/verify/${id}.token` } });
  service.script(page, link('chk_1'), link('chk_2'));
  expect(await find(true)).toMatchObject({
    checks: [
      { id: 'chk_1', public_url: 'https://vat.example.com/verify/chk_1.token' },
      { id: 'chk_2', public_url: 'https://vat.example.com/verify/chk_2.token' },
    ],
  });
  expect(service.calls.map(({ path }) => path).slice(1)).toEqual(['/v1/checks/chk_1/link', '/v1/checks/chk_2/link']);
  service.script(page, refusal(404, 'NOT_FOUND'));
  expect(JSON.stringify(await find(true))).not.toContain('_url');
  service.script(page);
  expect(JSON.stringify(await find(false))).not.toContain('_url');
  expect(service.calls).toHaveLength(1);
  service.script(page, refusal(401, 'UNAUTHORIZED'));
  await expect(find(true)).rejects.toThrow('UNAUTHORIZED');
});
