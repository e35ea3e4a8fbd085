import { atTheEdge } from '@vat/domain';
import { z } from 'zod';

/** A number as it was written: {@link atTheEdge}, and no U+0000 either, which Postgres keeps in no text. */
export const numberText = (what: string, missing = `${what} is text`) =>
  z
    .string(missing)
    .overwrite((text) => atTheEdge(text).replaceAll('\0', ''))
    .min(1, `${what} is empty`)
    .max(40, `${what} is longer than 40 characters`);

/** Text without control characters of any kind, after {@link atTheEdge}. `what` names it in the message. */
export const printable = (what: string, max: number) =>
  z
    .string()
    .overwrite(atTheEdge)
    .min(1, `${what} is empty`)
    .max(max, `${what} is longer than ${max} characters`)
    .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, `${what} has control characters`);
