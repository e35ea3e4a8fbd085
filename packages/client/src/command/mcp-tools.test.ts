import { until } from '@vat/testkit';
import { openScriptedService, type ScriptedService } from '../scripted-service.fixture.js';
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
