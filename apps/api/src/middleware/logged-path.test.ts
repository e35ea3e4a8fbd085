import { loggedPath } from './request.js';

test('the path of a public link is logged without its token, however it is spelled', () => {
  const id = 'chk_01m7w2q8z5e0a9v6n3r4t7y1bc';
  const token = 'qk3V0nJ1y8Zt5wXbR2uGdLe7';
  for (const path of [
    `/verify/${id}.${token}`,
    `/verify/${id}.${token}.json`,
    `/verify/${id}.${token}/`,
    `/VERIFY/${id}.${token}`,
    `//verify/${id}.${token}`,
    `/verify/${id}%2E${token}`,
    `/app/verify/${id}.${token}`,
  ])
    expect(loggedPath(path)).toBe(`${path.slice(0, path.indexOf(id))}${id}…`);
  expect(loggedPath(`/verify/${token}`)).toBe('/verify/…');
  expect(loggedPath(`/verify/${id.slice(0, -1)}.${token}`)).toBe('/verify/…');
});

test('the path of an unsubscribe link is logged without its kind and token', () => {
  const id = 'usr_01m7w2q8z5e0a9v6n3r4t7y1bc';
  expect(loggedPath(`/unsubscribe/${id}.quota.qk3V0nJ1y8Zt5wXbR2uGdLe7`)).toBe(`/unsubscribe/${id}…`);
  expect(loggedPath('/unsubscribe/qk3V0nJ1y8Zt5wXbR2uGdLe7')).toBe('/unsubscribe/…');
});

test('every other path is logged as it is', () => {
  for (const path of ['/v1/checks/chk_01m7w2q8z5e0a9v6n3r4t7y1bc/certificate.pdf', '/verifier/verify.py', '/verify/'])
    expect(loggedPath(path)).toBe(path);
});
