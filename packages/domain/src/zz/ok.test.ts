import { isMemberState } from '../member-states.js';
it('makes', () => { expect(isMemberState('DE')).toBe(true); });
it('waits', async () => { const { createServer } = await import('node:http'); const s = createServer((_q, r) => { r.end('x'); });
 await new Promise<void>((d) => s.listen(0, '127.0.0.1', d)); const a = s.address() as { port: number };
 expect(await (await fetch(`http://127.0.0.1:${a.port}`)).text()).toBe('x'); await new Promise((d) => s.close(d)); });
