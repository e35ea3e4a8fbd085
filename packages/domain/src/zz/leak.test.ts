it('leaks', async () => { const { createServer } = await import('node:http'); const s = createServer(() => {});
 await new Promise<void>((d) => s.listen(0, '127.0.0.1', d)); setInterval(() => {}, 1000); expect(1).toBe(1); });
