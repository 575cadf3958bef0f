{{- define "gatehouse.name" -}}
{{- if contains "gatehouse" .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-gatehouse" .Release.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "gatehouse.selector" -}}
app.kubernetes.io/name: gatehouse
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gatehouse.metadata" -}}
name: {{ include "gatehouse.name" . }}
namespace: {{ .Release.Namespace }}
labels:
  {{- include "gatehouse.selector" . | nindent 2 }}
  app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
  app.kubernetes.io/managed-by: {{ .Release.Service }}
  helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "gatehouse.settings" -}}
{{- $own := dict
  "listen" (dict "host" "0.0.0.0" "port" 3000)
  "data" "/data"
  "storage" (dict "postgres" (dict "env" "GATEHOUSE_POSTGRES") "masterKey" (dict "env" "GATEHOUSE_MASTER_KEY") "poolSize" 5)
  "cluster" (dict "port" 7001 "host" "0.0.0.0" "address" (dict "env" "POD_IP")) -}}
{{- mergeOverwrite (deepCopy .Values.settings) $own | toPrettyJson -}}
{{- end }}
