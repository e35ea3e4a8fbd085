import { type Database, eraseAccount, insertAccount, listAccounts, setAccountDisabled, setAccountPlan } from '@vat/db';
import { createAccount, isPlan, PLANS, type Plan, publicId, uuidOf } from '@vat/domain';
import { maintenanceQueue } from '@vat/queues';
import { hashPassword } from '@vat/runtime';
import { z } from 'zod';
import type { Commands } from '../command.js';
import { UsageError, withProducer } from '../command.js';

const PAGE = 500;
/** After this time a disabled account has no work in progress: its keys are refused, its requests abandoned, its lookups ended. */
const IDLE_AFTER_MS = 60_000;

const planOf = (name: string): Plan => {
  if (isPlan(name)) return name;
  const all = Object.keys(PLANS).join(', ');
  throw new UsageError(name === '' ? `Name the plan: ${all}.` : `There is no plan ${name}; there are ${all}.`);
};

/** The stored id behind a public account id. */
export const accountIdOf = (id: string | undefined): string => {
  const uuid = id === undefined ? null : uuidOf('account', id);
  if (uuid === null)
    throw new UsageError(`${id ? `There is no account ${id}; name` : 'Name'} the account by its id, acc_….`);
  return uuid;
};

const assertFound = (found: boolean, id: string): void => {
  if (!found) throw new UsageError(`There is no account ${id}.`);
};

/** The value of --password that means: read the password from standard input. */
const FROM_INPUT = '-';

const newAccount = z.object({
  name: z
    .string('--name is missing')
    .trim()
    .min(1, '--name is empty')
    .max(200, '--name is longer than 200 characters')
    .regex(/^[^\p{Cc}\p{Zl}\p{Zp}]*$/u, '--name has a line break or another control character'),
  email: z.email('--email is not an e-mail address').max(254),
  password: z.string('--password is missing').min(8, '--password has at least 8 characters').max(1_000),
  plan: z.string().default('free'),
  quota: z
    .string()
    .regex(/^\d{1,9}$/, '--quota is a whole number of at most 9 digits')
    .transform(Number)
    .optional(),
});

/** account create|list|disable|enable|set-plan|erase. `readLine` reads a line of standard input. */
export const accountCommands = (
  db: Database,
  env: NodeJS.ProcessEnv,
  now: () => Date,
  readLine: () => Promise<string>,
): Commands => ({
  'account create --name N --email E --password P|- [--plan PLAN] [--quota N]': async ({ flags }) => {
    const password = flags['password'] === FROM_INPUT ? await readLine() : flags['password'];
    const parsed = newAccount.safeParse({ ...flags, password });
    if (!parsed.success) throw new UsageError(parsed.error.issues.map((issue) => issue.message).join('. '));
    const { plan, quota, ...rest } = parsed.data;
    const create = createAccount({ insertAccount: insertAccount(db), hashPassword, now });
    const created = await create({ ...rest, plan: planOf(plan), quota: quota ?? null });
    if (!created) throw new UsageError(`The e-mail address ${rest.email} is taken.`);
    return { account_id: created.accountId, live_key: created.liveKey, test_key: created.testKey };
  },
  'account list': async () => {
    const accounts: Record<string, unknown>[] = [];
    for (let after: string | null = null; ; ) {
      const page = await listAccounts(db)(after, PAGE);
      for (const account of page) {
        accounts.push({
          account_id: publicId('account', account.id),
          name: account.name,
          owners: account.users.map(({ email }) => email),
          plan: account.plan,
          quota: account.monthlyQuota,
          disabled_at: account.disabledAt?.toISOString() ?? null,
          created_at: account.createdAt.toISOString(),
        });
      }
      after = page.at(-1)?.id ?? null;
      if (page.length < PAGE) return { accounts };
    }
  },
  'account disable ACCOUNT': async ({ positionals: [id = ''] }) => {
    const account = await setAccountDisabled(db)(accountIdOf(id), now());
    assertFound(account !== null, id);
    return { account_id: id, disabled_at: account?.disabledAt?.toISOString() ?? null };
  },
  'account enable ACCOUNT': async ({ positionals: [id = ''] }) => {
    assertFound((await setAccountDisabled(db)(accountIdOf(id), null)) !== null, id);
    // This sweep resumes its held deliveries at once. Without Redis the next scheduled sweep finds them.
    await withProducer(env, now, (producer) =>
      producer.enqueue({ definition: maintenanceQueue, payload: { task: 'sweep' } }),
    ).catch(() => undefined);
    return { account_id: id, disabled_at: null };
  },
  'account set-plan ACCOUNT PLAN': async ({ positionals: [id = '', plan = ''] }) => {
    assertFound(await setAccountPlan(db)(accountIdOf(id), planOf(plan)), id);
    return { account_id: id, plan };
  },
  'account erase ACCOUNT': async ({ positionals: [id = ''] }) => {
    const at = now();
    const erased = await eraseAccount(db)(accountIdOf(id), new Date(at.getTime() - IDLE_AFTER_MS), at);
    assertFound(erased.kind !== 'missing', id);
    if (erased.kind !== 'erased')
      throw new UsageError(
        `Run account disable ${id} first, and erase the account a minute later. Deleted data cannot be restored.`,
      );
    const { kind: _kind, ...counts } = erased;
    return { account_id: id, erased: counts };
  },
});
