import fc from 'fast-check';
import { newUuid, publicId, type StoredId } from '../ids.js';
import { publicLinks } from './public-link.js';

const newCheck = () => newUuid() as StoredId<'check'>;
const lastPart = (path: string) => path.replace(/^\/verify\//, '');
const links = publicLinks('the current key of this service');

test('a link names its check, and has a token of 144 bits', () => {
  const id = newCheck();
  const path = links.pathOf(id);
  expect(path).toMatch(/^\/verify\/chk_[0-9a-z]{26}\.[\w-]{24}$/);
  expect(path).toContain(`/${publicId('check', id)}.`);
  expect(links.checkOf(lastPart(path))).toBe(id);
});

test('a token opens no other check', () => {
  const [one, other] = [newCheck(), newCheck()];
  const [, token] = links.pathOf(one).split('.');
  expect(links.checkOf(`${publicId('check', other)}.${token}`)).toBeNull();
});

test('any other text in place of the token opens nothing', () => {
  const id = newCheck();
  const right = lastPart(links.pathOf(id));
  const [, token = ''] = right.split('.');
  const position = fc.nat({ max: token.length - 1 });
  const character = fc.constantFrom(...'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_');
  fc.assert(
    fc.property(position, character, (at, other) => {
      const changed = `${token.slice(0, at)}${other}${token.slice(at + 1)}`;
      return links.checkOf(`${publicId('check', id)}.${changed}`) === (changed === token ? id : null);
    }),
  );
  for (const text of ['', publicId('check', id), `${right}A`, right.slice(0, -1), `${right}.json`, right.toUpperCase()])
    expect(links.checkOf(text)).toBeNull();
});

test('links of the previous key open, those of any other key do not', () => {
  const id = newCheck();
  const changed = publicLinks('the key after a change', 'the current key of this service');
  const earlier = lastPart(links.pathOf(id));
  expect(changed.checkOf(earlier)).toBe(id);
  expect(lastPart(changed.pathOf(id))).not.toBe(earlier);
  expect(publicLinks('the key after a change').checkOf(earlier)).toBeNull();
});
