import type { ReactNode } from 'react';
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { useApiMutation } from '../api/use-api-mutation.js';
import { Button } from './button.js';
import { saveFile } from './format.js';
import { ErrorAlert } from './states.js';

type ConfirmProps = {
  /** The label of the button, and of the button that confirms. */
  action: string;
  /** The title of the dialog, such as “Delete this batch?”. */
  question: string;
  children: ReactNode;
  onConfirm: () => void;
  /** Whether the action is under way. */
  isPending: boolean;
  small?: boolean;
};

/** A button for an irreversible action, with a confirmation dialog. */
export const Confirm = ({ action, question, children, onConfirm, isPending, small = false }: ConfirmProps) => (
  <DialogTrigger>
    <Button variant="danger" small={small} isPending={isPending}>
      {action}
    </Button>
    <ModalOverlay className="overlay" isDismissable>
      <Modal className="modal">
        <Dialog role="alertdialog" className="dialog">
          {({ close }) => (
            <>
              <Heading slot="title">{question}</Heading>
              <div>{children}</div>
              <div className="actions">
                <Button onPress={close}>Cancel</Button>
                <Button
                  variant="danger"
                  onPress={() => {
                    onConfirm();
                    close();
                  }}
                >
                  {action}
                </Button>
              </div>
            </>
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  </DialogTrigger>
);

type DownloadButtonProps = { path: string; fileName: string; children: string; small?: boolean };

/** Downloads a file. Unlike a link, it shows an error when the file does not exist yet. */
export const DownloadButton = ({ path, fileName, children, small = false }: DownloadButtonProps) => {
  const download = useApiMutation([], async (api) =>
    saveFile(await (await api.send('GET', path, { headers: { Accept: '*/*' } })).blob(), fileName),
  );
  return (
    <>
      <Button small={small} isPending={download.isPending} onPress={() => download.mutate()}>
        {children}
      </Button>
      <ErrorAlert error={download.error} />
    </>
  );
};
