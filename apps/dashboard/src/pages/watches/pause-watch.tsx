import type { Watch } from '../../api/shapes.js';
import { useChange } from '../../api/use-change.js';
import { Button } from '../../parts/button.js';
import { Refusal } from '../../parts/refusal.js';

/** Pauses an active watch, and resumes a paused one. */
export const PauseWatch = ({ watch }: { watch: Watch }) => {
  const wanted = watch.status === 'active' ? 'paused' : 'active';
  const amend = useChange(['watches'], (api, status: Watch['status']) =>
    api.call<Watch>('PATCH', `/watches/${watch.watch_id}`, { body: { status } }),
  );
  return (
    <>
      <Button small isPending={amend.isPending} onPress={() => amend.mutate(wanted)}>
        {wanted === 'paused' ? 'Pause' : 'Resume'}
      </Button>
      <Refusal error={amend.error} />
    </>
  );
};
