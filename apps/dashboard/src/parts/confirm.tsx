import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Dialog, DialogTrigger } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { useApi } from '../api/create-api.js';
import { Button } from './button.js';
import { saveFile } from './format.js';
import { Refusal } from './states.js';

type ConfirmProps = {
  /** The button that asks for it, and the name of the thing to be done. */
  action: string;
  /** What is asked, such as “Delete this batch?”. */
  question: string;
  children: ReactNode;
  onConfirm: () => void;
  small?: boolean;
};

/** A button for what cannot be undone: says first what will happen. */
export const Confirm = ({ action, question, children, onConfirm, small = false }: ConfirmProps) => (
  <DialogTrigger>
    <Button look="danger" small={small}>
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
                  look="danger"
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

/** Fetches a file and saves it; says why when it is not there yet, which a plain link would not. */
export const DownloadButton = ({ path, fileName, children, small = false }: DownloadButtonProps) => {
  const api = useApi();
  const download = useMutation({
    mutationFn: async () =>
      saveFile(await (await api.send('GET', path, { headers: { Accept: '*/*' } })).blob(), fileName),
  });
  return (
    <>
      <Button small={small} isPending={download.isPending} onPress={() => download.mutate()}>
        {children}
      </Button>
      <Refusal error={download.error} />
    </>
  );
};
