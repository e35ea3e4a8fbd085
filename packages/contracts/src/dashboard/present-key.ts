import { publicId } from '@vat/domain';

/** An entry of GET /app/api/keys: `hint` is the key's last four characters; the key itself is known to its owner only. */
export const presentKey = (key: {
  id: string;
  name: string;
  test: boolean;
  hint: string;
  createdAt: Date;
  lastUsedAt: Date | null;
  revokedAt: Date | null;
}) => ({
  key_id: publicId('key', key.id),
  name: key.name,
  test: key.test,
  hint: key.hint,
  created_at: key.createdAt.toISOString(),
  last_used_at: key.lastUsedAt?.toISOString() ?? null,
  revoked_at: key.revokedAt?.toISOString() ?? null,
});
