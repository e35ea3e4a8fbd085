import { z } from 'zod';

/** A moment on the wire: RFC 3339, UTC, milliseconds. */
export const instant = () => z.iso.datetime({ precision: 3 });

/** A public id with its prefix. */
export const idOf = (prefix: string) => z.string().regex(new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`));
