{{- define "vat.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "vat.labels" -}}
{{ include "vat.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- /* The name of a worker's objects, at most 63 characters, since KEDA makes a label of it. */}}
{{- define "vat.workerName" -}}
{{ printf "%s-worker-%s" (trunc 35 .root.Release.Name) .name }}
{{- end }}

{{- /*
The next three make a pod; each takes `root`, the top context, and `secrets`, the settings with secrets that the program reads. A pod
gets those of them that the Secret has.
*/}}
{{- define "vat.pod" -}}
{{- $values := .root.Values -}}
automountServiceAccountToken: false
# Node as pid 1 would not end on a signal before it has a handler for it.
shareProcessNamespace: true
securityContext:
  {{- toYaml $values.podSecurityContext | nindent 2 }}
volumes:
  - name: secrets
    secret:
      secretName: {{ $values.secret.name }}
      # Readable by the group of fsGroup.
      defaultMode: 0440
      items:
        {{- range .secrets }}
        {{- if has . $values.secret.keys }}
        - key: {{ . }}
          path: {{ . }}
        {{- end }}
        {{- end }}
  {{- with $values.extraVolumes }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- with $values.podSpec }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{- define "vat.container" -}}
{{- $values := .root.Values -}}
image: {{ printf "%s:%s" $values.image.repository ($values.image.tag | default .root.Chart.AppVersion) | quote }}
imagePullPolicy: {{ $values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
volumeMounts:
  - name: secrets
    mountPath: /run/secrets/vat
    readOnly: true
  {{- with $values.extraVolumeMounts }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}

{{- define "vat.env" -}}
{{- $values := .root.Values }}
{{- if and $values.ingress.enabled (not (hasKey $values.settings "BASE_URL")) }}
- name: BASE_URL
  value: https://{{ $values.ingress.host }}
{{- end }}
{{- range $name, $value := $values.settings }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- range .secrets }}
{{- if has . $values.secret.keys }}
- name: {{ . }}_FILE
  value: /run/secrets/vat/{{ . }}
{{- end }}
{{- end }}
{{- end }}

{{- /* Over the nodes as evenly as they permit, each revision by itself. Takes the labels of the pods. */}}
{{- define "vat.spread" -}}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    matchLabelKeys: [pod-template-hash]
    labelSelector:
      matchLabels:
        {{- . | nindent 8 }}
{{- end }}
