# shellcheck shell=bash
# SPDX-License-Identifier: MIT
#
# What a private cluster is configured by: keys, tokens, kubeconfigs, the audit policy, the
# scheduler's file; all in $etc.
# shellcheck disable=SC2154

# make_certificate NAME SUBJECT EXTENSION...: $certificates/NAME.key and .crt, signed by ca.crt there
# (by itself where NAME is ca), for a day; $certificate_dates (-not_before, -not_after) otherwise.
make_certificate() {
    local name=$1 subject=$2 extension options=(-days 1)
    local folder=${certificates:-$etc}
    [[ $name == ca ]] || options+=(-CA "$folder/ca.crt" -CAkey "$folder/ca.key")
    for extension in "${@:3}"; do
        options+=(-addext "$extension")
    done
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -batch \
        -config <(printf '[req]\ndistinguished_name=dn\n[dn]\n') -subj "$subject" \
        -keyout "$folder/$name.key" -out "$folder/$name.crt" "${options[@]}" 2>"$folder/$name.log" ||
        die "openssl: $(tail -n 1 "$folder/$name.log")"
    rm -f "$folder/$name.log"
}

write_keys() {
    local names=DNS:localhost,DNS:kubernetes.default.svc,IP:127.0.0.1,IP:10.0.0.1
    make_certificate ca /CN=parplan-test basicConstraints=critical,CA:TRUE \
        keyUsage=critical,keyCertSign,cRLSign
    make_certificate apiserver /CN=apiserver "subjectAltName=$names" \
        extendedKeyUsage=serverAuth
    openssl ecparam -genkey -name prime256v1 -noout -out "$etc/service-account.key"
}

# write_kubeconfig NAME TOKEN
write_kubeconfig() {
    cat >"$etc/$1.kubeconfig" <<END
apiVersion: v1
kind: Config
current-context: parplan-test
clusters:
- name: parplan-test
  cluster: {server: "$server", certificate-authority: "$etc/ca.crt"}
contexts:
- name: parplan-test
  context: {cluster: parplan-test, user: "$1"}
users:
- name: "$1"
  user: {token: "$2"}
END
}

# The controllers have one identity here, where a real cluster gives each its own.
write_identities() {
    local name user groups token
    while read -r name user groups; do
        token=$(openssl rand -hex 16)
        echo "$token,$user,$name,\"$groups\"" >>"$etc/tokens.csv"
        write_kubeconfig "$name" "$token"
        printf '%s' "$token" >"$etc/$name.token"
    done <<'END'
admin admin system:masters
kubelet kubelet system:masters
scheduler system:kube-scheduler system:authenticated
controller-manager system:kube-controller-manager system:masters
END
}

# What the control plane itself and the kubelets' stand-in do is left out: there is much of it, and nobody asks.
write_audit_policy() {
    cat >"$etc/audit-policy.yaml" <<'END'
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: None
  users: [system:apiserver, system:kube-scheduler, system:kube-controller-manager, kubelet]
- level: None
  nonResourceURLs: ["/healthz*", "/readyz*", "/livez*", "/version", "/openapi*", "/api", "/apis*"]
- level: Metadata
END
}

# print_scheduler_config FILE: FILE's configuration ("" for the stock one), but with the cluster's
# own kubeconfig and no election of a leader.
print_scheduler_config() {
    if [[ $1 ]]; then
        awk '/^[^ #-]/ { mine = /^(clientConnection|leaderElection):/ } !mine' "$1"
    else
        echo "apiVersion: kubescheduler.config.k8s.io/v1"
        echo "kind: KubeSchedulerConfiguration"
    fi
    echo "clientConnection: {kubeconfig: $etc/scheduler.kubeconfig, qps: 1000, burst: 2000}"
    echo "leaderElection: {leaderElect: false}"
}

# The versions of the API group of gangs that this API server has.
workload_api() {
    echo scheduling.k8s.io/v1alpha2=true
}

write_configuration() {
    (
        umask 077
        rm -f "$etc/tokens.csv"
        write_keys
        write_identities
        write_audit_policy
    )
}
