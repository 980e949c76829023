# SPDX-License-Identifier: MIT
# parplan: one Makefile, explicit lists, everything built under build/<variant>/.
# `make help` lists the targets and the variables.

VERSION := 0.1.0

# --- what there is -----------------------------------------------------------------
# Adding a file means adding its line here; `make lint` finds files that no list names.

BASE_SOURCES := \
	common/base/arena.c \
	common/base/tables/csv_table.c \
	common/base/tables/toml_scan.c \
	common/base/data_file.c \
	common/base/error.c \
	common/base/id_set.c \
	common/base/json_document.c \
	common/base/json_value.c \
	common/base/log_sink.c \
	common/base/memory.c \
	common/base/name_index.c \
	common/base/node_list.c \
	common/base/texts/packed_text.c \
	common/base/parse_number.c \
	common/base/text_buffer.c \
	common/base/text_file.c \
	common/base/yaml_document.c \
	common/base/yaml_fields.c \
	common/base/tables/yaml_rows.c \
	common/base/yaml_writer.c

# A program of the build (common/base/embed_data.sh).
EMBED_SOURCES := common/base/embed/yaml_events.c

TOPOLOGY_SOURCES := \
	common/topology/cluster_readers/cluster_fabric.c \
	common/topology/cluster_readers/cluster_file.c \
	common/topology/cluster_readers/cluster_kind.c \
	common/topology/cluster_readers/cluster_preset.c \
	common/topology/cluster_readers/gres_text.c \
	common/topology/cluster_readers/rate.c \
	common/topology/cluster_readers/slurm_nodes.c \
	common/topology/cluster_source.c \
	common/topology/cluster_summary.c \
	common/topology/cluster_topology.c \
	common/topology/collect/cluster_collection.c \
	common/topology/collect/node_kind.c \
	common/topology/collect/node_stream.c \
	common/topology/fabric.c \
	common/topology/fabric_build.c \
	common/topology/fabric_readers/fabric_draft.c \
	common/topology/fabric_readers/fabric_file.c \
	common/topology/fabric_readers/fabric_redraft.c \
	common/topology/fabric_readers/slurm_blocks.c \
	common/topology/fabric_readers/slurm_fabric.c \
	common/topology/fabric_select.c \
	common/topology/gpu_catalogue.c \
	common/topology/groups/gpu_nest.c \
	common/topology/groups/gpu_partition.c \
	common/topology/groups/gpu_ring.c \
	common/topology/groups/gpu_search.c \
	common/topology/groups/usable_groups.c \
	common/topology/link.c \
	common/topology/link_generation.c \
	common/topology/merge/comparison.c \
	common/topology/merge/gpu_identity.c \
	common/topology/merge/gpu_merge.c \
	common/topology/merge/health.c \
	common/topology/merge/link_rates.c \
	common/topology/merge/merge_state.c \
	common/topology/merge/nic_merge.c \
	common/topology/merge/nic_roles.c \
	common/topology/merge/node_merge.c \
	common/topology/merge/nvlink_domains.c \
	common/topology/merge/nvlink_merge.c \
	common/topology/merge/nvlink_reach.c \
	common/topology/node_readers/evidence_draft.c \
	common/topology/node_cache.c \
	common/topology/node_readers/evidence/evidence_encode.c \
	common/topology/node_readers/evidence_text.c \
	common/topology/node_readers/node_description.c \
	common/topology/node_readers/node_restate.c \
	common/topology/node_readers/node_file.c \
	common/topology/node_readers/text/node_file_links.c \
	common/topology/node_readers/preset_node.c \
	common/topology/node_topology.c \
	common/topology/groups/nvlink_domain.c \
	common/topology/preset_catalogue.c \
	common/topology/text_list.c

WORKLOAD_SOURCES := \
	common/workload/admin/policy_origin.c \
	common/workload/admin/policy_scopes.c \
	common/workload/admin_config.c \
	common/workload/config/config_layers.c \
	common/workload/config/config_value.c \
	common/workload/framework_profile.c \
	common/workload/job/job_bounds.c \
	common/workload/job/option_kind.c \
	common/workload/job_spec.c \
	common/workload/launch/launch_file.c \
	common/workload/launch/launch_numbering.c \
	common/workload/launch/launch_rule.c \
	common/workload/launch_flags.c \
	common/workload/model_catalogue.c \
	common/workload/model_config.c \
	common/workload/model_family.c \
	common/workload/model_parameters.c \
	common/workload/model_source.c \
	common/workload/model_spec.c \
	common/workload/parallelism.c \
	common/workload/policy.c \
	common/workload/rank_order.c \
	common/workload/training_spec.c

PLANNER_SOURCES := \
	common/planner/communication_model.c \
	common/planner/compute_model.c \
	common/planner/efficiency_catalogue.c \
	common/planner/explanation/method_comparison.c \
	common/planner/explanation/plan_explain.c \
	common/planner/explanation/plan_pareto.c \
	common/planner/explanation/rule_words.c \
	common/planner/explanation/rules_degrees.c \
	common/planner/explanation/rules_fit.c \
	common/planner/explanation/rules_setting.c \
	common/planner/group_span.c \
	common/planner/measured/kernel_profile.c \
	common/planner/measured/measured_speed.c \
	common/planner/measured/mfu_analysis.c \
	common/planner/measured/mfu_checks.c \
	common/planner/measured/mfu_reference.c \
	common/planner/measured/nccl_share.c \
	common/planner/measured/precision_advice.c \
	common/planner/memory_model.c \
	common/planner/pipeline_schedule.c \
	common/planner/plan.c \
	common/planner/plan_context.c \
	common/planner/plan_degrees.c \
	common/planner/plan_search.c \
	common/planner/step_time.c \
	common/planner/strategy.c \
	common/planner/strategy_words.c \
	common/planner/scaling/node_scaling.c \
	common/planner/scaling/run_length.c \
	common/planner/search/candidate_pool.c \
	common/planner/search/configuration_search.c \
	common/planner/search/constraint.c \
	common/planner/search/plan_remedy.c \
	common/planner/search/model_plan.c \
	common/planner/search/refusal.c \
	common/planner/search/search_space.c \
	common/planner/sizes/communication_volume.c \
	common/planner/sizes/plan_shape.c \
	common/planner/sizes/stage_parameters.c

# What replays published runs; only the command line has it.
VALIDATION_SOURCES := \
	common/validation/accuracy.c \
	common/validation/calibration/calibration.c \
	common/validation/calibration/factor_search.c \
	common/validation/calibration/gemm_fit.c \
	common/validation/calibration/link_fit.c \
	common/validation/calibration/nccl_table.c \
	common/validation/interconnect_text.c \
	common/validation/publication_catalogue.c \
	common/validation/published_model.c \
	common/validation/published_run.c \
	common/validation/run_case.c \
	common/validation/coefficient_fit.c \
	common/validation/leave_one_out.c \
	common/validation/validation.c \
	common/report/measured/calibration_report.c \
	common/report/measured/validation_report.c

# Scan experiments; only the command line has them.
SCAN_SOURCES := \
	common/planner/roles/role_plans.c \
	common/planner/scan/scan_grid.c \
	common/planner/scan/scan_result.c \
	common/report/scan/scan_document.c \
	common/report/roles/role_report.c \
	common/report/scan/scan_report.c \
	common/workload/job/role_list.c \
	common/report/scan/scan_runs.c \
	common/report/scan/scan_script.c \
	common/report/scan/shell_word.c

# The policy itself, and as Kubernetes has it; only the command line prints it.
POLICY_REPORT_SOURCES := \
	common/report/kubernetes/admission_manifest.c \
	common/report/kubernetes/manifest_template.c \
	common/report/policy/policy_rules.c

# Mappings made elsewhere; only the command line reads them.
EVALUATION_SOURCES := \
	common/mapping/evaluation/launcher_layout.c \
	common/mapping/evaluation/mapping_document.c \
	common/mapping/evaluation/mapping_evaluation.c \
	common/mapping/evaluation/mapping_file.c \
	common/mapping/evaluation/place_draft.c \
	common/mapping/evaluation/rank_places.c

MAPPING_SOURCES := \
	common/mapping/solver/block_order.c \
	common/mapping/fabric_tree.c \
	common/mapping/gpu_mapping.c \
	common/mapping/mapping_cost.c \
	common/mapping/name_order.c \
	common/mapping/node_mapping.c \
	common/mapping/solver/node_packing.c \
	common/mapping/node_permutation.c \
	common/mapping/objective.c \
	common/mapping/placement.c \
	common/mapping/rails/gpu_nics.c \
	common/mapping/rails/node_rails.c \
	common/mapping/rails/rail_agreement.c \
	common/mapping/rank_environment.c \
	common/mapping/rank_map.c \
	common/mapping/solver/arrangement.c \
	common/mapping/solver/block_graph.c \
	common/mapping/solver/cost_bound.c \
	common/mapping/solver/exact_search.c \
	common/mapping/solver/exchange_search.c \
	common/mapping/solver/flow_weights.c \
	common/mapping/solver/group_pairs.c \
	common/mapping/solver/link_seconds.c \
	common/mapping/solver/mapping_search.c \
	common/mapping/solver/site_map.c \
	common/mapping/traffic.c \
	common/mapping/visible_gpus.c \
	common/mapping/wire_plan.c

REPORT_SOURCES := \
	common/report/catalogue_document.c \
	common/report/catalogue_report.c \
	common/report/comparison/choice_report.c \
	common/report/comparison/method_report.c \
	common/report/environment_report.c \
	common/report/evaluation/evaluation_report.c \
	common/report/files/cluster_file.c \
	common/report/files/file_text.c \
	common/report/files/lock_file.c \
	common/report/files/node_file.c \
	common/report/launchers/accelerate_launcher.c \
	common/report/launchers/bridge_launcher.c \
	common/report/launchers/deepspeed_launcher.c \
	common/report/launchers/launch_config.c \
	common/report/launchers/launch_environment.c \
	common/report/launchers/launch_plan.c \
	common/report/launchers/launch_report.c \
	common/report/launchers/launcher.c \
	common/report/launchers/megatron_launcher.c \
	common/report/launchers/slurm_request.c \
	common/report/launchers/torchrun_launcher.c \
	common/report/launchers/torchtitan_launcher.c \
	common/report/devices/map_devices.c \
	common/report/map_document.c \
	common/report/map_report.c \
	common/report/measured/mfu_document.c \
	common/report/measured/mfu_report.c \
	common/report/node_report.c \
	common/report/number_text.c \
	common/report/pictures/fabric_columns.c \
	common/report/pictures/fabric_layout.c \
	common/report/pictures/fabric_nodes.c \
	common/report/pictures/fabric_picture.c \
	common/report/pictures/map/map_arcs.c \
	common/report/pictures/map/map_boxes.c \
	common/report/pictures/map/map_frames.c \
	common/report/pictures/map/map_layout.c \
	common/report/pictures/map/map_links.c \
	common/report/pictures/map/map_picture.c \
	common/report/pictures/map/map_table.c \
	common/report/pictures/map/map_units.c \
	common/report/pictures/node_layout.c \
	common/report/pictures/node_links.c \
	common/report/pictures/node_nics.c \
	common/report/pictures/node_picture.c \
	common/report/pictures/picture.c \
	common/report/pictures/svg_canvas.c \
	common/report/plan_document.c \
	common/report/plan_explanation.c \
	common/report/plan_report.c \
	common/report/models/stage_report.c \
	common/report/scaling/scaling_document.c \
	common/report/scaling/scaling_report.c \
	common/report/text_style.c \
	common/report/text_table.c \
	common/report/topology_document.c \
	common/report/topology_report.c

CLI_SOURCES := \
	common/cli/cache_file.c \
	common/cli/check_command.c \
	common/cli/collect_command.c \
	common/cli/command.c \
	common/cli/command_options.c \
	common/cli/commands/calibrate_command.c \
	common/cli/commands/doctor_command.c \
	common/cli/doctor/cluster_checks.c \
	common/cli/doctor/config_checks.c \
	common/cli/doctor/doctor_facts.c \
	common/cli/doctor/doctor_report.c \
	common/cli/doctor/elf_symbol.c \
	common/cli/doctor/finding.c \
	common/cli/doctor/node_checks.c \
	common/cli/doctor/path_access.c \
	common/cli/doctor/plugin_checks.c \
	common/cli/doctor/plugstack.c \
	common/cli/doctor/plugstack_checks.c \
	common/cli/doctor/policy_checks.c \
	common/cli/doctor/slurm_checks.c \
	common/cli/doctor/slurm_text.c \
	common/cli/commands/mfu_command.c \
	common/cli/commands/policy_command.c \
	common/cli/env_command.c \
	common/cli/commands/flags_command.c \
	common/cli/gpus_command.c \
	common/cli/inputs/catalogues.c \
	common/cli/inputs/child_output.c \
	common/cli/inputs/cluster_choice.c \
	common/cli/inputs/input_remedy.c \
	common/cli/inputs/mapping_options.c \
	common/cli/inputs/node_files.c \
	common/cli/inputs/plan_lock.c \
	common/cli/inputs/run_options.c \
	common/cli/inputs/scenario.c \
	common/cli/inputs/topology_format.c \
	common/cli/inputs/topology_source.c \
	common/cli/main.c \
	common/cli/map_command.c \
	common/cli/models_command.c \
	common/cli/output.c \
	common/cli/plan_command.c \
	common/cli/commands/roles_command.c \
	common/cli/commands/sweep_command.c \
	common/cli/topology_command.c \
	common/cli/topology_file.c \
	common/cli/commands/validate_command.c

# Left edge: readers that need hwloc, a child process or a device. Not in the plugin.
READER_SOURCES := \
	common/topology/fabric_readers/cluster_uuids_fabric.c \
	common/topology/fabric_readers/infiniband/ib_capacity.c \
	common/topology/fabric_readers/infiniband/ib_description.c \
	common/topology/fabric_readers/infiniband/ib_fabric.c \
	common/topology/fabric_readers/infiniband/ib_network.c \
	common/topology/fabric_readers/infiniband/ib_rails.c \
	common/topology/fabric_readers/infiniband/ib_rate.c \
	common/topology/fabric_readers/infiniband/ib_settle.c \
	common/topology/fabric_readers/infiniband/ib_tree.c \
	common/topology/fabric_readers/infiniband/ibnetdiscover_fabric.c \
	common/topology/fabric_readers/infiniband/sharp_fabric.c \
	common/topology/fabric_readers/labels/kubernetes_fabric.c \
	common/topology/fabric_readers/labels/label_fabric.c \
	common/topology/fabric_readers/labels/label_keys.c \
	common/topology/fabric_readers/node_paths.c \
	common/topology/fabric_readers/slurm_yaml_fabric.c \
	common/topology/fabric_readers/text_lines.c \
	common/topology/fabric_readers/topograph_graph.c \
	common/topology/fabric_readers/topograph_model.c \
	common/topology/collect/node_annotation.c \
	common/topology/node_readers/hwloc/hwloc_import.c \
	common/topology/node_readers/hwloc/hwloc_reader.c \
	common/topology/node_readers/live_node.c \
	common/topology/node_readers/nccl_topology.c \
	common/topology/node_readers/hwloc/nvlink_closure.c \
	common/topology/node_readers/nvml/nvml_device.c \
	common/topology/node_readers/nvml/nvml_links.c \
	common/topology/node_readers/nvml/nvml_symbols.c \
	common/topology/node_readers/nvml_reader.c \
	common/topology/node_readers/hwloc/pci_device.c \
	common/topology/node_readers/reader_child.c \
	common/topology/node_readers/sysfs/infiniband_reader.c \
	common/topology/node_readers/sysfs/kfd_nodes.c \
	common/topology/node_readers/sysfs/kfd_reader.c \
	common/topology/node_readers/sysfs/pci_health.c \
	common/topology/node_readers/sysfs/sysfs_text.c \
	common/topology/node_readers/sysfs/sysfs_tree.c \
	common/topology/node_readers/slurm_gres.c \
	common/topology/node_readers/text/gres_lines.c \
	common/topology/node_readers/text/matrix_text.c \
	common/topology/node_readers/text/nccl_values.c \
	common/topology/node_readers/text/nccl_xml.c \
	common/topology/node_readers/topo_matrix.c

SPANK_SOURCES := \
	spank_plugin/master_address.c \
	spank_plugin/node/plugin_order.c \
	spank_plugin/node/step_wire_facts.c \
	spank_plugin/node/task_cpus.c \
	spank_plugin/place/srun_arguments.c \
	spank_plugin/place/step_placement.c \
	spank_plugin/place/step_shape.c \
	spank_plugin/plan_variable.c \
	spank_plugin/plugin_log.c \
	spank_plugin/plugin_options.c \
	spank_plugin/policy/step_policy.c \
	spank_plugin/spank_parplan.c \
	spank_plugin/srun_context.c \
	spank_plugin/step_cluster.c \
	spank_plugin/step_facts.c \
	spank_plugin/step_plan.c \
	spank_plugin/step_report.c \
	spank_plugin/task_context.c \
	spank_plugin/task_node.c

# slurmctld's plugin, and what it takes of the rest.
SUBMIT_SOURCES := \
	spank_plugin/job_submit/job_submit_parplan.c \
	spank_plugin/job_submit/submit_config.c \
	spank_plugin/job_submit/submit_request.c \
	spank_plugin/job_submit/submit_verdict.c

# Kubernetes: what is pure (objects, gangs, their placement), the API's client, the server, and
# the two programs.
GANG_SOURCES := \
	k8s_extender/gang/cluster_state.c \
	k8s_extender/gang/gang_answer.c \
	k8s_extender/gang/gang_machine.c \
	k8s_extender/gang/gang_members.c \
	k8s_extender/gang/gang_outsiders.c \
	k8s_extender/gang/gang_outputs.c \
	k8s_extender/gang/gang_recovery.c \
	k8s_extender/gang/gang_report.c \
	k8s_extender/gang/gang_table.c \
	k8s_extender/gang/steps/gang_candidates.c \
	k8s_extender/gang/steps/gang_planning.c \
	k8s_extender/gang/steps/gang_steps.c \
	k8s_extender/gang/steps/gang_tasks.c \
	k8s_extender/gang/store/gang_events.c \
	k8s_extender/gang/store/node_entry.c \
	k8s_extender/gang/store/node_tally.c \
	k8s_extender/gang/store/record_table.c \
	k8s_extender/gang/store/request_match.c \
	k8s_extender/api/gang_service.c \
	k8s_extender/api/gang_size.c \
	k8s_extender/objects/gang_group.c \
	k8s_extender/objects/gang_identity.c \
	k8s_extender/objects/label_set.c \
	k8s_extender/objects/node_record.c \
	k8s_extender/objects/node_selector.c \
	k8s_extender/objects/node_unfit.c \
	k8s_extender/objects/pod_block.c \
	k8s_extender/objects/pod_placement.c \
	k8s_extender/objects/pod_record.c \
	k8s_extender/objects/pod_requests.c \
	k8s_extender/objects/reading/object_fields.c \
	k8s_extender/objects/reading/object_text.c \
	k8s_extender/objects/reading/quantity.c \
	k8s_extender/objects/reading/record_block.c \
	k8s_extender/objects/reading/shared_text.c \
	k8s_extender/objects/resource_list.c \
	k8s_extender/placement/cluster_view.c \
	k8s_extender/placement/gpu_labels.c \
	k8s_extender/placement/view_fabric.c \
	k8s_extender/placement/view_kinds.c \
	k8s_extender/placement/view_notes.c \
	k8s_extender/placement/gang_plan.c \
	k8s_extender/placement/gang_problem.c \
	k8s_extender/placement/planning/gang_neighbours.c \
	k8s_extender/placement/planning/gang_plan_text.c \
	k8s_extender/placement/planning/gang_replan.c \
	k8s_extender/placement/planning/gang_room.c \
	k8s_extender/placement/planning/gang_slots.c \
	k8s_extender/placement/planning/gang_words.c \
	k8s_extender/placement/plan_answer.c \
	k8s_extender/placement/pod_inputs.c

API_SOURCES := \
	k8s_extender/api/api_answer.c \
	k8s_extender/api/api_client.c \
	k8s_extender/api/config/api_check.c \
	k8s_extender/api/config/api_config.c \
	k8s_extender/api/backoff.c \
	k8s_extender/api/config/base64.c \
	k8s_extender/api/json_splitter.c \
	k8s_extender/api/lease.c \
	k8s_extender/api/lease_decision.c \
	k8s_extender/api/list_watch.c \
	k8s_extender/api/config/object_name.c \
	k8s_extender/api/pod_event.c \
	k8s_extender/api/pod_patch.c \
	k8s_extender/api/request_text.c \
	k8s_extender/api/resource_version.c \
	k8s_extender/api/time_now.c

# What both programs have beside the API's client.
OPTION_SOURCES := \
	k8s_extender/options/program_options.c

SERVER_SOURCES := \
	k8s_extender/server/admission_wire.c \
	k8s_extender/server/extender_wire.c \
	k8s_extender/server/extender_write.c \
	k8s_extender/server/http_connections.c \
	k8s_extender/server/http_exchange.c \
	k8s_extender/server/http_server.c \
	k8s_extender/server/http_tls.c \
	k8s_extender/server/metrics.c \
	k8s_extender/server/pod_admission.c \
	k8s_extender/server/pod_identity.c \
	k8s_extender/server/wire_json.c \
	k8s_extender/server/wire_scan.c

EXTENDER_SOURCES := \
	k8s_extender/extender/extender.c \
	k8s_extender/extender/extender_options.c \
	k8s_extender/extender/leader.c \
	k8s_extender/extender/live_config.c \
	k8s_extender/extender/main.c \
	k8s_extender/extender/probe.c \
	k8s_extender/extender/reports.c \
	k8s_extender/extender/routes.c \
	k8s_extender/extender/verbs.c \
	k8s_extender/extender/watcher.c \
	k8s_extender/extender/worker.c

AGENT_SOURCES := \
	k8s_extender/agent/agent_options.c \
	k8s_extender/agent/machine.c \
	k8s_extender/agent/main.c \
	k8s_extender/agent/node_document.c \
	k8s_extender/agent/publisher.c

# Compiled by the suites on a real Slurm.
SLURM_TEST_SOURCES := \
	tests/slurm/mpi_groups.c

# common/<layer>/data/*.yaml, compiled in and found by their last path component.
DATA_FILES := \
	common/planner/data/efficiencies.yaml \
	common/topology/data/gpus.yaml \
	common/topology/data/node_presets.yaml \
	common/workload/data/frameworks.yaml \
	common/workload/data/launch_keys.yaml \
	common/workload/data/models.yaml

# The same, in the program but not in the plugin.
PROGRAM_DATA_FILES := \
	common/planner/data/mfu_references.yaml \
	common/report/data/kubernetes_admission.yaml.in \
	common/validation/data/publications.yaml \
	common/validation/data/published_memory.csv \
	common/validation/data/published_runs.csv

# One test program each: tests/unit/<layer>/<file>_test.c
UNIT_TESTS := \
	tests/unit/k8s_extender/cluster_state_test.c \
	tests/unit/k8s_extender/gang_deletion_test.c \
	tests/unit/k8s_extender/gang_machine_test.c \
	tests/unit/k8s_extender/gang_candidates_test.c \
	tests/unit/k8s_extender/gang_outsiders_test.c \
	tests/unit/k8s_extender/gang_limits_test.c \
	tests/unit/k8s_extender/gang_trouble_test.c \
	tests/unit/k8s_extender/gang_turns_test.c \
	tests/unit/k8s_extender/admission_test.c \
	tests/unit/k8s_extender/extender_wire_test.c \
	tests/unit/k8s_extender/gang_events_test.c \
	tests/unit/k8s_extender/gang_identity_test.c \
	tests/unit/k8s_extender/http_tls_test.c \
	tests/unit/k8s_extender/label_set_test.c \
	tests/unit/k8s_extender/metrics_test.c \
	tests/unit/k8s_extender/node_record_test.c \
	tests/unit/k8s_extender/node_selector_test.c \
	tests/unit/k8s_extender/object_text_test.c \
	tests/unit/k8s_extender/pod_record_test.c \
	tests/unit/k8s_extender/pod_requests_test.c \
	tests/unit/k8s_extender/quantity_test.c \
	tests/unit/k8s_extender/resource_list_test.c \
	tests/unit/k8s_extender/shared_text_test.c \
	tests/unit/k8s_extender/http_bodies_test.c \
	tests/unit/k8s_extender/http_server_test.c \
	tests/unit/k8s_extender/http_limits_test.c \
	tests/unit/k8s_extender/http_stop_test.c \
	tests/unit/cli/child_output_test.c \
	tests/unit/cli/command_options_test.c \
	tests/unit/cli/command_test.c \
	tests/unit/cli/config_checks_test.c \
	tests/unit/cli/doctor_checks_test.c \
	tests/unit/cli/doctor_facts_test.c \
	tests/unit/cli/documents_test.c \
	tests/unit/cli/elf_symbol_test.c \
	tests/unit/cli/input_remedy_test.c \
	tests/unit/cli/output_test.c \
	tests/unit/cli/plan_lock_test.c \
	tests/unit/cli/plugstack_test.c \
	tests/unit/cli/run_options_test.c \
	tests/unit/cli/slurm_text_test.c \
	tests/unit/report/launch_config_test.c \
	tests/unit/report/launch_plan_test.c \
	tests/unit/report/launch_report_test.c \
	tests/unit/report/launcher_test.c \
	tests/unit/report/admission_manifest_test.c \
	tests/unit/report/manifest_template_test.c \
	tests/unit/report/map_links_test.c \
	tests/unit/report/map_picture_test.c \
	tests/unit/report/map_report_test.c \
	tests/unit/report/role_report_test.c \
	tests/unit/report/slurm_request_test.c \
	tests/unit/report/scan_report_test.c \
	tests/unit/report/scan_script_test.c \
	tests/unit/report/shell_word_test.c \
	tests/unit/validation/calibration_test.c \
	tests/unit/validation/factor_search_test.c \
	tests/unit/validation/gemm_fit_test.c \
	tests/unit/validation/link_fit_test.c \
	tests/unit/validation/nccl_table_test.c \
	tests/unit/report/mfu_report_test.c \
	tests/unit/report/plan_report_test.c \
	tests/unit/base/arena_test.c \
	tests/unit/base/csv_table_test.c \
	tests/unit/base/toml_scan_test.c \
	tests/unit/base/data_file_test.c \
	tests/unit/base/error_test.c \
	tests/unit/base/id_set_test.c \
	tests/unit/base/json_document_test.c \
	tests/unit/base/json_value_test.c \
	tests/unit/base/log_sink_test.c \
	tests/unit/base/memory_test.c \
	tests/unit/base/name_index_test.c \
	tests/unit/base/node_list_test.c \
	tests/unit/base/parse_number_test.c \
	tests/unit/base/text_buffer_test.c \
	tests/unit/base/text_file_test.c \
	tests/unit/base/yaml_document_test.c \
	tests/unit/base/yaml_fields_test.c \
	tests/unit/base/yaml_rows_test.c \
	tests/unit/base/yaml_writer_test.c \
	tests/unit/k8s_extender/extender_options_test.c \
	tests/unit/k8s_extender/extender_ready_test.c \
	tests/unit/k8s_extender/live_config_test.c \
	tests/unit/k8s_extender/api_client_test.c \
	tests/unit/k8s_extender/api_stop_test.c \
	tests/unit/k8s_extender/api_credentials_test.c \
	tests/unit/k8s_extender/api_config_test.c \
	tests/unit/k8s_extender/backoff_test.c \
	tests/unit/k8s_extender/gang_service_test.c \
	tests/unit/k8s_extender/gang_size_test.c \
	tests/unit/k8s_extender/json_splitter_test.c \
	tests/unit/k8s_extender/lease_decision_test.c \
	tests/unit/k8s_extender/lease_test.c \
	tests/unit/k8s_extender/list_watch_test.c \
	tests/unit/k8s_extender/pod_event_test.c \
	tests/unit/k8s_extender/pod_patch_test.c \
	tests/unit/k8s_extender/probe_test.c \
	tests/unit/k8s_extender/program_options_test.c \
	tests/unit/mapping/block_order_test.c \
	tests/unit/mapping/fabric_tree_test.c \
	tests/unit/mapping/gpu_mapping_test.c \
	tests/unit/mapping/launcher_layout_test.c \
	tests/unit/mapping/gpu_nics_test.c \
	tests/unit/mapping/mapping_cost_test.c \
	tests/unit/mapping/mapping_evaluation_test.c \
	tests/unit/mapping/mapping_file_test.c \
	tests/unit/mapping/name_order_test.c \
	tests/unit/mapping/node_mapping_test.c \
	tests/unit/mapping/node_permutation_test.c \
	tests/unit/mapping/objective_test.c \
	tests/unit/mapping/node_rails_test.c \
	tests/unit/mapping/placement_test.c \
	tests/unit/mapping/rank_environment_test.c \
	tests/unit/mapping/rail_agreement_test.c \
	tests/unit/mapping/rank_map_test.c \
	tests/unit/mapping/solver/arrangement_test.c \
	tests/unit/mapping/solver/block_graph_test.c \
	tests/unit/mapping/solver/cost_bound_test.c \
	tests/unit/mapping/solver/exact_search_test.c \
	tests/unit/mapping/solver/exchange_search_test.c \
	tests/unit/mapping/solver/flow_weights_test.c \
	tests/unit/mapping/solver/group_pairs_test.c \
	tests/unit/mapping/solver/link_seconds_test.c \
	tests/unit/mapping/solver/mapping_search_test.c \
	tests/unit/mapping/solver/site_map_test.c \
	tests/unit/mapping/traffic_test.c \
	tests/unit/mapping/visible_gpus_test.c \
	tests/unit/mapping/wire_plan_test.c \
	tests/unit/planner/candidate_pool_test.c \
	tests/unit/planner/communication_model_test.c \
	tests/unit/planner/communication_volume_test.c \
	tests/unit/planner/constraint_test.c \
	tests/unit/planner/efficiency_catalogue_test.c \
	tests/unit/planner/group_span_test.c \
	tests/unit/planner/kernel_profile_test.c \
	tests/unit/planner/measured_speed_test.c \
	tests/unit/planner/memory_model_test.c \
	tests/unit/planner/method_comparison_test.c \
	tests/unit/planner/mfu_analysis_test.c \
	tests/unit/planner/mfu_reference_test.c \
	tests/unit/planner/node_scaling_test.c \
	tests/unit/planner/pipeline_schedule_test.c \
	tests/unit/planner/plan_context_test.c \
	tests/unit/planner/plan_degrees_test.c \
	tests/unit/planner/plan_search_test.c \
	tests/unit/planner/precision_advice_test.c \
	tests/unit/planner/plan_shape_test.c \
	tests/unit/planner/run_length_test.c \
	tests/unit/planner/role_plans_test.c \
	tests/unit/planner/scan_grid_test.c \
	tests/unit/planner/scan_result_test.c \
	tests/unit/planner/stage_parameters_test.c \
	tests/unit/planner/step_time_test.c \
	tests/unit/planner/strategy_words_test.c \
	tests/unit/report/cluster_file_test.c \
	tests/unit/report/environment_report_test.c \
	tests/unit/report/evaluation_report_test.c \
	tests/unit/report/node_file_test.c \
	tests/unit/report/number_text_test.c \
	tests/unit/report/scaling_report_test.c \
	tests/unit/report/fabric_picture_test.c \
	tests/unit/report/method_report_test.c \
	tests/unit/report/node_picture_test.c \
	tests/unit/report/svg_canvas_test.c \
	tests/unit/report/text_style_test.c \
	tests/unit/report/text_table_test.c \
	tests/unit/report/validation_report_test.c \
	tests/unit/spank_plugin/job_submit_test.c \
	tests/unit/spank_plugin/srun_arguments_test.c \
	tests/unit/spank_plugin/step_plan_test.c \
	tests/unit/spank_plugin/step_shape_test.c \
	tests/unit/spank_plugin/task_context_test.c \
	tests/unit/spank_plugin/task_cpus_test.c \
	tests/unit/spank_plugin/task_node_test.c \
	tests/unit/k8s_extender/agent_options_test.c \
	tests/unit/k8s_extender/cluster_view_test.c \
	tests/unit/k8s_extender/gang_plan_test.c \
	tests/unit/k8s_extender/gang_plan_text_test.c \
	tests/unit/k8s_extender/gang_replan_test.c \
	tests/unit/k8s_extender/gang_slots_test.c \
	tests/unit/k8s_extender/machine_test.c \
	tests/unit/k8s_extender/publisher_test.c \
	tests/unit/k8s_extender/plan_answer_test.c \
	tests/unit/k8s_extender/pod_identity_test.c \
	tests/unit/k8s_extender/pod_inputs_test.c \
	tests/unit/topology/cluster_collection_test.c \
	tests/unit/topology/cluster_file_test.c \
	tests/unit/topology/cluster_topology_test.c \
	tests/unit/topology/evidence_text_test.c \
	tests/unit/topology/cluster_uuids_fabric_test.c \
	tests/unit/topology/fabric_test.c \
	tests/unit/topology/gpu_catalogue_test.c \
	tests/unit/topology/gpu_search_test.c \
	tests/unit/topology/gres_text_test.c \
	tests/unit/topology/hwloc_reader_test.c \
	tests/unit/topology/label_fabric_test.c \
	tests/unit/topology/infiniband_reader_test.c \
	tests/unit/topology/kfd_reader_test.c \
	tests/unit/topology/ib_description_test.c \
	tests/unit/topology/ibnetdiscover_fabric_test.c \
	tests/unit/topology/link_generation_test.c \
	tests/unit/topology/merge_evidence_test.c \
	tests/unit/topology/merge_gpus_test.c \
	tests/unit/topology/merge_links_test.c \
	tests/unit/topology/merge_nics_test.c \
	tests/unit/topology/nccl_topology_test.c \
	tests/unit/topology/nic_roles_test.c \
	tests/unit/topology/node_annotation_test.c \
	tests/unit/topology/node_cache_test.c \
	tests/unit/topology/node_merge_test.c \
	tests/unit/topology/nvlink_closure_test.c \
	tests/unit/topology/nvlink_domain_test.c \
	tests/unit/topology/nvml_reader_test.c \
	tests/unit/topology/pci_device_test.c \
	tests/unit/topology/pci_health_test.c \
	tests/unit/topology/preset_catalogue_test.c \
	tests/unit/topology/node_stream_test.c \
	tests/unit/topology/rate_test.c \
	tests/unit/topology/sharp_fabric_test.c \
	tests/unit/topology/slurm_fabric_test.c \
	tests/unit/topology/slurm_nodes_test.c \
	tests/unit/topology/slurm_yaml_fabric_test.c \
	tests/unit/topology/topograph_fabric_test.c \
	tests/unit/topology/sysfs_text_test.c \
	tests/unit/topology/sysfs_tree_test.c \
	tests/unit/topology/slurm_gres_test.c \
	tests/unit/topology/topo_matrix_test.c \
	tests/unit/validation/accuracy_test.c \
	tests/unit/validation/coefficient_fit_test.c \
	tests/unit/validation/interconnect_text_test.c \
	tests/unit/validation/leave_one_out_test.c \
	tests/unit/validation/publication_catalogue_test.c \
	tests/unit/validation/published_model_test.c \
	tests/unit/validation/published_run_test.c \
	tests/unit/validation/run_case_test.c \
	tests/unit/validation/validation_test.c \
	tests/unit/workload/launch_file_test.c \
	tests/unit/workload/launch_flags_test.c \
	tests/unit/workload/launch_numbering_test.c \
	tests/unit/workload/admin_config_test.c \
	tests/unit/workload/framework_profile_test.c \
	tests/unit/workload/job_bounds_test.c \
	tests/unit/workload/job_spec_test.c \
	tests/unit/workload/model_catalogue_test.c \
	tests/unit/workload/model_config_test.c \
	tests/unit/workload/model_families_test.c \
	tests/unit/workload/model_parameters_test.c \
	tests/unit/workload/parallelism_test.c \
	tests/unit/workload/policy_origin_test.c \
	tests/unit/workload/policy_test.c \
	tests/unit/workload/rank_order_test.c \
	tests/unit/workload/role_list_test.c \
	tests/unit/workload/training_spec_test.c

# One test program each: tests/property/<name>_test.c
PROPERTY_TESTS := \
	tests/property/gang_machine_test.c \
	tests/property/cluster_view_test.c \
	tests/property/gang_plan_test.c \
	tests/property/gpu_mapping_test.c \
	tests/property/launch_settings_test.c \
	tests/property/mapping_quality_test.c \
	tests/property/plan_search_test.c \
	tests/property/rank_map_test.c \
	tests/property/rank_order_test.c

# One test program each: tests/corpus/<name>_test.c; runs only where ../shared is.
CORPUS_TESTS := \
	tests/corpus/hwloc_mutations_test.c \
	tests/corpus/planner_truth_test.c

# One libFuzzer target each: tests/fuzz/<name>_fuzz.c; seeds in tests/fuzz/corpus/<name>/
FUZZ_TESTS := \
	tests/fuzz/admission_review_fuzz.c \
	tests/fuzz/extender_question_fuzz.c \
	tests/fuzz/preemption_question_fuzz.c \
	tests/fuzz/scan_result_fuzz.c \
	tests/fuzz/srun_arguments_fuzz.c \
	tests/fuzz/admin_config_fuzz.c \
	tests/fuzz/calibration_fuzz.c \
	tests/fuzz/cluster_file_fuzz.c \
	tests/fuzz/csv_table_fuzz.c \
	tests/fuzz/elf_symbol_fuzz.c \
	tests/fuzz/evidence_text_fuzz.c \
	tests/fuzz/fabric_cluster_uuids_fuzz.c \
	tests/fuzz/fabric_ibnetdiscover_fuzz.c \
	tests/fuzz/fabric_sharp_fuzz.c \
	tests/fuzz/fabric_labels_fuzz.c \
	tests/fuzz/fabric_slurm_fuzz.c \
	tests/fuzz/fabric_topograph_fuzz.c \
	tests/fuzz/fabric_yaml_fuzz.c \
	tests/fuzz/id_set_fuzz.c \
	tests/fuzz/gang_plan_fuzz.c \
	tests/fuzz/plan_question_fuzz.c \
	tests/fuzz/job_file_fuzz.c \
	tests/fuzz/job_option_fuzz.c \
	tests/fuzz/json_document_fuzz.c \
	tests/fuzz/api_object_fuzz.c \
	tests/fuzz/json_splitter_fuzz.c \
	tests/fuzz/kubeconfig_fuzz.c \
	tests/fuzz/kernel_profile_fuzz.c \
	tests/fuzz/launch_file_fuzz.c \
	tests/fuzz/mapping_file_fuzz.c \
	tests/fuzz/model_config_fuzz.c \
	tests/fuzz/model_file_fuzz.c \
	tests/fuzz/role_file_fuzz.c \
	tests/fuzz/node_annotation_fuzz.c \
	tests/fuzz/node_cache_fuzz.c \
	tests/fuzz/node_file_fuzz.c \
	tests/fuzz/node_record_fuzz.c \
	tests/fuzz/nccl_table_fuzz.c \
	tests/fuzz/nccl_topology_fuzz.c \
	tests/fuzz/node_list_fuzz.c \
	tests/fuzz/parse_number_fuzz.c \
	tests/fuzz/pod_record_fuzz.c \
	tests/fuzz/published_run_fuzz.c \
	tests/fuzz/sysfs_properties_fuzz.c \
	tests/fuzz/sysfs_words_fuzz.c \
	tests/fuzz/slurm_gres_fuzz.c \
	tests/fuzz/toml_scan_fuzz.c \
	tests/fuzz/slurm_text_fuzz.c \
	tests/fuzz/topo_matrix_fuzz.c \
	tests/fuzz/wire_plan_fuzz.c \
	tests/fuzz/yaml_document_fuzz.c

# One program each: tests/bench/<name>_bench.c
BENCHES := \
	tests/bench/extender_bench.c \
	tests/bench/fabric_bench.c \
	tests/bench/gang_machine_bench.c \
	tests/bench/gang_plan_bench.c \
	tests/bench/mapping_quality_bench.c \
	tests/bench/node_cache_bench.c \
	tests/bench/object_bench.c \
	tests/bench/plan_search_bench.c \
	tests/bench/rank_map_bench.c
# What the scripts there call.
BENCH_TOOLS := \
	tests/bench/request_times.c

# Linked into every test, property, fuzz and bench program as needed.
SUPPORT_SOURCES := \
	tests/support/api_peer.c \
	tests/support/http_fixture.c \
	tests/support/argument_list.c \
	tests/support/time_order.c \
	tests/support/fake_planner.c \
	tests/support/machine_fixture.c \
	tests/support/gang_world.c \
	tests/support/gang_world_checks.c \
	tests/support/gang_world_events.c \
	tests/support/gang_world_server.c \
	tests/support/tls_peer.c \
	tests/support/elf_sample.c \
	tests/support/file_tree.c \
	tests/support/fake_api.c \
	tests/support/fake_spank.c \
	tests/support/fragmented_case.c \
	tests/support/gang_fixture.c \
	tests/support/launch_fixture.c \
	tests/support/loopback_peer.c \
	tests/support/placement_rival.c \
	tests/support/planner_fixture.c \
	tests/support/quoted_json.c \
	tests/support/reference_bench.c \
	tests/support/run_table.c \
	tests/support/scan_fixture.c \
	tests/support/solver_case.c \
	tests/support/svg_check.c \
	tests/support/test_cluster.c \
	tests/support/comma_locale.c \
	tests/support/unit_test.c \
	tests/support/xml_mutation.c

# A libnvidia-ml.so.1 that plays machines of tests/support/mock_nvml/profiles; nothing links it.
MOCK_NVML_SOURCES := \
	tests/support/mock_nvml/mock_nvml.c \
	tests/support/mock_nvml/mock_profile.c

# Plugins that stand beside ours in plugstack.conf; the suites on a real Slurm build them.
STAND_IN_SOURCES := \
	tests/support/spank_stand_in/silence.c \
	tests/support/spank_stand_in/stand_in.c \
	tests/support/stand_in_plugin.c

# docs/man/<name>.<section>
MAN_PAGES := \
	docs/man/parplan-calibrate.1 \
	docs/man/parplan-check.1 \
	docs/man/parplan-doctor.1 \
	docs/man/parplan-env.1 \
	docs/man/parplan-flags.1 \
	docs/man/parplan-gpus.1 \
	docs/man/parplan-map.1 \
	docs/man/parplan-mfu.1 \
	docs/man/parplan-models.1 \
	docs/man/parplan-extender.8 \
	docs/man/parplan-node-agent.8 \
	docs/man/parplan-plan.1 \
	docs/man/parplan-policy.1 \
	docs/man/parplan-roles.1 \
	docs/man/parplan-sweep.1 \
	docs/man/parplan-topology.1 \
	docs/man/parplan-validate.1 \
	docs/man/parplan.1 \
	docs/man/parplan.yaml.5 \
	docs/man/spank_parplan.8

# --- the user's choices ------------------------------------------------------------

VARIANT ?= release
# Two people who build one tree at the same time use two of these.
BUILD_ROOT ?= build
BUILD := $(BUILD_ROOT)/$(VARIANT)

prefix ?= /usr/local
exec_prefix ?= $(prefix)
bindir ?= $(exec_prefix)/bin
libdir ?= $(exec_prefix)/lib
datadir ?= $(prefix)/share
mandir ?= $(datadir)/man
docdir ?= $(datadir)/doc/parplan
sysconfdir ?= /etc
# Where spank_parplan.so goes; for Debian's Slurm: spankdir=/usr/lib/x86_64-linux-gnu/slurm-wlm
spankdir ?= $(libdir)/slurm
unitdir ?= $(prefix)/lib/systemd/system

ifeq ($(origin CC),default)
CC := gcc
endif
CLANG ?= clang-14
CLANG_FORMAT ?= clang-format-14
CLANG_TIDY ?= clang-tidy-14
INSTALL ?= install
PKG_CONFIG ?= pkg-config
FUZZ_SECONDS ?= 60
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

# --- flags: ours first, the user's CPPFLAGS, CFLAGS and LDFLAGS last ----------------

MACHINE := $(shell $(CC) -dumpmachine 2>/dev/null)
package_cflags = $(patsubst -I%,-isystem %,$(shell $(PKG_CONFIG) --cflags $(1) 2>/dev/null))
package_libs = $(or $(shell $(PKG_CONFIG) --libs $(1) 2>/dev/null),$(2))

HWLOC_LIBS := $(call package_libs,hwloc,-lhwloc)
YAML_LIBS := $(call package_libs,yaml-0.1,-lyaml)
JSON_LIBS := $(call package_libs,json-c,-ljson-c)
ZLIB_LIBS := $(call package_libs,zlib,-lz)
EXPAT_LIBS := $(call package_libs,expat,-lexpat)
CMOCKA_LIBS := $(call package_libs,cmocka,-lcmocka)
CURL_LIBS := $(call package_libs,libcurl,-lcurl-gnutls)
HTTP_LIBS := $(call package_libs,libmicrohttpd,-lmicrohttpd) $(call package_libs,gnutls,-lgnutls)

WARNINGS := -Wall -Wextra -Wconversion -Wshadow -Wvla -Wmissing-prototypes \
	-Wstrict-prototypes -Wold-style-definition -Wundef -Wformat=2 -Wwrite-strings \
	-Wpointer-arith -Wredundant-decls -Wnested-externs

# Every object may end in the plugin, so all are position independent.
# -fno-semantic-interposition: our own calls stay direct (and inlinable) all the same.
# -ffp-contract=off: the same sums to the last bit on machines with and without FMA.
OUR_CPPFLAGS := -D_GNU_SOURCE -DPARPLAN_VERSION='"$(VERSION)"' -Icommon -I. \
	$(call package_cflags,hwloc yaml-0.1 json-c expat cmocka)
OUR_CFLAGS := -std=gnu11 -fPIC -fno-semantic-interposition -ffunction-sections \
	-fdata-sections -ffp-contract=off $(WARNINGS)
OUR_LDFLAGS := -Wl,--as-needed -Wl,--gc-sections
HARDENING := -fstack-protector-strong
ifneq (,$(filter x86_64%,$(MACHINE)))
HARDENING += -fstack-clash-protection -fcf-protection
endif

ifeq ($(VARIANT),release)
OUR_CPPFLAGS += -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2
OUR_CFLAGS += -O2 $(HARDENING)
OUR_LDFLAGS += -Wl,-z,relro,-z,now
# The plugin is mapped by every srun and slurmstepd: small before fast (with gcc optimised
# as a whole and without what makes its code longer; clang would need another linker), no unwind
# tables (C has nothing to unwind), relative relocations packed, no start files (its one
# constructor needs none), no symbols but the exported ones, calls straight through the GOT (all is bound at
# load), stack protection where there are buffers, as Debian builds srun: no CET, no stack probes.
# -fno-math-errno and -fno-trapping-math change no result: nobody reads errno or the flags.
PLUGIN_FOLDER := plugin
PLUGIN_CFLAGS := $(shell $(CC) -Oz -E -x c /dev/null > /dev/null 2>&1 && echo -Oz || echo -Os) \
	-fno-asynchronous-unwind-tables -fno-ident -fno-stack-protector -fstack-protector \
	$(if $(filter x86_64%,$(MACHINE)),-fcf-protection=none -fno-stack-clash-protection -fno-plt \
		$(if $(findstring clang,$(CC)),,-malign-data=abi)) \
	$(if $(findstring clang,$(CC)),,-flto -flto-partition=one -fno-inline-functions-called-once \
	-fno-tree-pre -fno-tree-loop-im -fno-move-loop-invariants -fno-thread-jumps \
	-fno-shrink-wrap -fno-tree-dominator-opts -fno-code-hoisting -fno-ira-hoist-pressure -fipa-pta \
	-fno-math-errno -fno-trapping-math)
PLUGIN_LDFLAGS := $(PLUGIN_CFLAGS) -nostartfiles -Wl,-z,pack-relative-relocs,-z,noseparate-code,-O1,--strip-all,--no-eh-frame-hdr,--no-ld-generated-unwind-info
# Room for the plugin's messages, packed by gzip (common/base/texts/packed_text.h): with gcc's LTO,
# which drops the texts that nothing reaches, and where the assembler takes its section. The
# formats are checked where the same sources are compiled for the command line. PLUGIN_BUILD:
# common/topology/merge/remarks.h.
ifeq (,$(findstring clang,$(CC))$(filter-out x86_64%,$(MACHINE)))
PACKED_TEXTS_BYTES := 9232
endif
else ifeq ($(VARIANT),debug)
OUR_CPPFLAGS += -DMEMORY_TORTURE
OUR_CFLAGS += -Og -g
else ifeq ($(VARIANT),asan)
OUR_CPPFLAGS += -DMEMORY_TORTURE
SANITIZE := -fsanitize=address,undefined -fno-sanitize-recover=undefined
OUR_CFLAGS += -O1 -g -fno-omit-frame-pointer
else ifeq ($(VARIANT),tsan)
SANITIZE := -fsanitize=thread
OUR_CFLAGS += -O1 -g -fno-omit-frame-pointer
else ifeq ($(VARIANT),coverage)
OUR_CPPFLAGS += -DMEMORY_TORTURE
SANITIZE := --coverage
OUR_CFLAGS += -O0 -g
else ifeq ($(VARIANT),fuzz)
SANITIZE := -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
OUR_CFLAGS += -O1 -g -fno-omit-frame-pointer
else
$(error VARIANT=$(VARIANT): one of release, debug, asan, tsan, coverage, fuzz)
endif

# WERROR=-Werror is for `make lint` alone.
COMPILE = $(CC) $(OUR_CPPFLAGS) $(CPPFLAGS) $(OUR_CFLAGS) $(SANITIZE) $(WERROR) $(CFLAGS)
LINK = $(CC) $(SANITIZE) $(OUR_LDFLAGS)

# --- objects -----------------------------------------------------------------------

LISTED := $(BASE_SOURCES) $(EMBED_SOURCES) $(TOPOLOGY_SOURCES) $(READER_SOURCES) $(WORKLOAD_SOURCES) \
	$(PLANNER_SOURCES) $(MAPPING_SOURCES) $(REPORT_SOURCES) $(VALIDATION_SOURCES) $(SCAN_SOURCES) $(EVALUATION_SOURCES) $(POLICY_REPORT_SOURCES) $(CLI_SOURCES) \
	$(SPANK_SOURCES) $(SUBMIT_SOURCES) $(GANG_SOURCES) $(API_SOURCES) $(SERVER_SOURCES) \
	$(OPTION_SOURCES) $(EXTENDER_SOURCES) $(AGENT_SOURCES) $(DATA_FILES) $(PROGRAM_DATA_FILES) $(UNIT_TESTS) $(PROPERTY_TESTS) $(CORPUS_TESTS) \
	$(FUZZ_TESTS) $(BENCHES) $(BENCH_TOOLS) $(SUPPORT_SOURCES) $(MOCK_NVML_SOURCES) $(SLURM_TEST_SOURCES) $(STAND_IN_SOURCES) $(MAN_PAGES)
objects = $(patsubst %.c,$(BUILD)/objects/%.o,$(1))
programs = $(patsubst %.c,$(BUILD)/%,$(1))

DATA_OBJECT := $(BUILD)/objects/common/data.o
PLUGIN_TAKES := $(BASE_SOURCES) $(TOPOLOGY_SOURCES) \
	$(WORKLOAD_SOURCES) $(PLANNER_SOURCES) $(MAPPING_SOURCES) $(REPORT_SOURCES) $(SPANK_SOURCES)
CLI_OBJECTS := $(call objects,$(filter-out $(SPANK_SOURCES),$(PLUGIN_TAKES)) \
	$(READER_SOURCES) $(VALIDATION_SOURCES) $(SCAN_SOURCES) $(EVALUATION_SOURCES) $(POLICY_REPORT_SOURCES) $(CLI_SOURCES)) $(DATA_OBJECT)
SPANK_OBJECTS := $(call objects,$(SPANK_SOURCES))
SUBMIT_OBJECTS := $(call objects,$(SUBMIT_SOURCES))
EXTENDER_TAKES := $(call objects,$(GANG_SOURCES) $(API_SOURCES) $(SERVER_SOURCES) \
	$(OPTION_SOURCES) $(EXTENDER_SOURCES))
AGENT_TAKES := $(call objects,$(API_SOURCES) $(OPTION_SOURCES) $(AGENT_SOURCES))
PLUGIN_OBJECTS := $(patsubst $(BUILD)/objects/%,$(BUILD)/$(or $(PLUGIN_FOLDER),objects)/%,\
	$(call objects,$(PLUGIN_TAKES))) $(BUILD)/plugin/common/data.o \
	$(if $(PACKED_TEXTS_BYTES),$(BUILD)/plugin/common/packed_texts.o)
SUPPORT_OBJECTS := $(call objects,$(SUPPORT_SOURCES))

UNIT_PROGRAMS := $(call programs,$(UNIT_TESTS))
PROPERTY_PROGRAMS := $(call programs,$(PROPERTY_TESTS))
CORPUS_PROGRAMS := $(call programs,$(CORPUS_TESTS))
FUZZ_PROGRAMS := $(call programs,$(FUZZ_TESTS))
BENCH_PROGRAMS := $(call programs,$(BENCHES))
BENCH_TOOL_PROGRAMS := $(call programs,$(BENCH_TOOLS))

PRODUCTS := $(BUILD)/parplan $(BUILD)/spank_parplan.so $(BUILD)/job_submit_parplan.so \
	$(BUILD)/parplan-extender $(BUILD)/parplan-node-agent

ifeq ($(V),1)
Q :=
say = @:
else
Q := @
say = @$(if $(QUIET),:,printf '  %-5s %s\n' $(1) $(2))
endif

.DELETE_ON_ERROR:
.SUFFIXES:
.SECONDARY:

.PHONY: all
all: $(PRODUCTS)  ## build parplan, spank_parplan.so, job_submit_parplan.so (the default)

# Objects are rebuilt when the compiler or a flag changes.
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(COMPILE) | $(PLUGIN_CFLAGS) | $(LINK) $(LDFLAGS) $(PLUGIN_LDFLAGS))' > $@.new.$$$$ && \
	if cmp -s $@.new.$$$$ $@; then rm -f $@.new.$$$$; else mv $@.new.$$$$ $@; fi
.PHONY: FORCE
FORCE:

$(BUILD)/objects/%.o: %.c $(BUILD)/flags
	$(call say,CC,$<)
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

# private: not for what builds their prerequisites (yaml_events).
$(BUILD)/plugin/%.o: private OUR_CFLAGS += $(PLUGIN_CFLAGS) $(if $(PACKED_TEXTS_BYTES),-DTEXTS_PACKED -DPLUGIN_BUILD \
	-Wno-format-nonliteral -Wno-format-security)
$(BUILD)/plugin/%.o: %.c $(BUILD)/flags
	$(call say,CC,"$< (plugin)")
	@mkdir -p $(@D)
	$(Q)$(COMPILE) -MMD -MP -c -o $@ $<

YAML_EVENTS := $(call programs,$(EMBED_SOURCES))
YAML_EVENTS_OBJECTS := $(call objects,$(EMBED_SOURCES) $(filter $(addprefix common/base/,arena.c error.c \
	memory.c name_index.c parse_number.c text_buffer.c text_file.c yaml_document.c),$(BASE_SOURCES)))
$(YAML_EVENTS): $(YAML_EVENTS_OBJECTS) $(BUILD)/flags
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -o $@ $(YAML_EVENTS_OBJECTS) $(LDFLAGS) $(YAML_LIBS) -lm

$(BUILD)/objects/common/data.S: BRIEF :=
$(BUILD)/plugin/common/data.S: BRIEF := --brief
$(BUILD)/objects/common/data.S: EMBEDDED := $(DATA_FILES) $(PROGRAM_DATA_FILES)
$(BUILD)/plugin/common/data.S: EMBEDDED := $(DATA_FILES)
$(BUILD)/objects/common/data.S $(BUILD)/plugin/common/data.S: common/base/embed_data.sh \
		$(YAML_EVENTS) $(DATA_FILES) $(PROGRAM_DATA_FILES) Makefile
	$(call say,DATA,$@)
	@mkdir -p $(@D)
	$(Q)YAML_EVENTS='$(YAML_EVENTS)' common/base/embed_data.sh $(BRIEF) $@ $(EMBEDDED)

$(BUILD)/%/common/data.o: $(BUILD)/%/common/data.S $(BUILD)/flags
	$(call say,AS,$<)
	$(Q)$(CC) -c -o $@ $<

$(BUILD)/plugin/common/packed_texts.o: $(BUILD)/flags Makefile
	@mkdir -p $(@D)
	$(Q)printf '.section packed_texts,"a"\n.skip %s\n.section .note.GNU-stack,"",@progbits\n' \
		$(PACKED_TEXTS_BYTES) | $(CC) -c -o $@ -x assembler -

# --- products ----------------------------------------------------------------------

$(BUILD)/parplan: $(CLI_OBJECTS) $(BUILD)/flags
	$(call say,LINK,$@)
	$(Q)$(LINK) -pie -o $@ $(CLI_OBJECTS) $(LDFLAGS) $(HWLOC_LIBS) $(YAML_LIBS) $(JSON_LIBS) $(ZLIB_LIBS) \
		$(EXPAT_LIBS) -lm

# No -lslurm: Slurm's symbols come from srun, slurmd and slurmstepd. The version script
# exports the entry points alone, so that --gc-sections drops what they do not reach.
SPANK_MAP := spank_plugin/spank_parplan.map
PLUGIN_LINKED := $(if $(PACKED_TEXTS_BYTES),$(BUILD)/plugin/linked.so,$(BUILD)/spank_parplan.so)
$(BUILD)/spank_parplan.so: $(PLUGIN_OBJECTS) $(SPANK_MAP) spank_plugin/pack_texts.sh $(BUILD)/flags
	$(call say,LINK,$@)
	$(Q)$(LINK) -shared -Wl,--version-script=$(SPANK_MAP) -Wl,-z,relro,-z,now \
		$(PLUGIN_LDFLAGS) -o $(PLUGIN_LINKED) $(PLUGIN_OBJECTS) $(LDFLAGS) $(YAML_LIBS) $(ZLIB_LIBS) -lm
	$(if $(PACKED_TEXTS_BYTES),$(Q)spank_plugin/pack_texts.sh $(PLUGIN_LINKED) $@)

# The same, for slurmctld, which no srun waits for: plain objects, no packed messages.
SUBMIT_MAP := spank_plugin/job_submit/job_submit_parplan.map
SUBMIT_TAKES := $(SUBMIT_OBJECTS) $(call objects,$(BASE_SOURCES) \
	$(TOPOLOGY_SOURCES) $(WORKLOAD_SOURCES)) $(DATA_OBJECT)
$(BUILD)/job_submit_parplan.so: $(SUBMIT_TAKES) $(SUBMIT_MAP) $(BUILD)/flags
	$(call say,LINK,$@)
	$(Q)$(LINK) -shared -Wl,--version-script=$(SUBMIT_MAP) -Wl,-z,relro,-z,now -o $@ $(SUBMIT_TAKES) \
		$(LDFLAGS) $(YAML_LIBS) -lm

# Both take from the core what they reach, and no more.
CORE_ARCHIVE := $(BUILD)/core.a
$(CORE_ARCHIVE): $(CLI_OBJECTS)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $^

$(BUILD)/parplan-extender: $(EXTENDER_TAKES) $(CORE_ARCHIVE) $(BUILD)/flags
	$(call say,LINK,$@)
	$(Q)$(LINK) -pie -pthread -o $@ $(EXTENDER_TAKES) $(CORE_ARCHIVE) $(LDFLAGS) $(HTTP_LIBS) $(CURL_LIBS) \
		$(HWLOC_LIBS) $(YAML_LIBS) $(JSON_LIBS) $(ZLIB_LIBS) $(EXPAT_LIBS) -lm

$(BUILD)/parplan-node-agent: $(AGENT_TAKES) $(CORE_ARCHIVE) $(BUILD)/flags
	$(call say,LINK,$@)
	$(Q)$(LINK) -pie -pthread -o $@ $(AGENT_TAKES) $(CORE_ARCHIVE) $(LDFLAGS) $(CURL_LIBS) $(HWLOC_LIBS) \
		$(YAML_LIBS) $(JSON_LIBS) $(ZLIB_LIBS) $(EXPAT_LIBS) -lm

# --- test programs: all of ours as one archive, so that each takes what it uses ------

ARCHIVE := $(BUILD)/parplan.a
$(ARCHIVE): $(CLI_OBJECTS) $(SPANK_OBJECTS) $(SUBMIT_OBJECTS) $(EXTENDER_TAKES) $(AGENT_TAKES) $(SUPPORT_OBJECTS)
	$(call say,AR,$@)
	@rm -f $@
	$(Q)$(AR) rcs $@ $(sort $^)

TEST_LIBS = $(HTTP_LIBS) $(CURL_LIBS) $(HWLOC_LIBS) $(YAML_LIBS) $(JSON_LIBS) $(ZLIB_LIBS) $(EXPAT_LIBS) $(CMOCKA_LIBS) -lm
$(BUILD)/tests/%: $(BUILD)/objects/tests/%.o $(ARCHIVE) $(BUILD)/flags
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) $(if $(filter fuzz/%,$*),-fsanitize=fuzzer) -o $@ $< $(ARCHIVE) $(LDFLAGS) \
		$(TEST_LIBS)

MOCK_NVML := $(BUILD)/tests/mock_nvml/libnvidia-ml.so.1
MOCK_NVML_OBJECTS := $(call objects,$(MOCK_NVML_SOURCES))
$(MOCK_NVML): $(MOCK_NVML_OBJECTS) $(ARCHIVE) $(BUILD)/flags
	$(call say,LINK,$@)
	@mkdir -p $(@D)
	$(Q)$(LINK) -shared -o $@ $(MOCK_NVML_OBJECTS) $(ARCHIVE) $(LDFLAGS) -lm
$(BUILD)/tests/unit/topology/nvml_reader_test $(BUILD)/tests/unit/k8s_extender/machine_test: | $(MOCK_NVML)

.PHONY: test-programs fuzz-programs bench-programs objects
test-programs: $(UNIT_PROGRAMS) $(PROPERTY_PROGRAMS) $(CORPUS_PROGRAMS)
fuzz-programs: $(FUZZ_PROGRAMS)
bench-programs: $(BENCH_PROGRAMS) $(BENCH_TOOL_PROGRAMS)
objects: $(CLI_OBJECTS) $(SPANK_OBJECTS) $(SUBMIT_OBJECTS) $(EXTENDER_TAKES) $(AGENT_TAKES) $(SUPPORT_OBJECTS) $(MOCK_NVML_OBJECTS) \
	$(call objects,$(UNIT_TESTS) $(PROPERTY_TESTS) $(CORPUS_TESTS) $(FUZZ_TESTS) $(BENCHES) $(BENCH_TOOLS) \
	$(STAND_IN_SOURCES))

# --- checks ------------------------------------------------------------------------
# Each target installs what is missing, builds in a make of its own (a first make knows
# no compiler or pkg-config that it has only just installed) and runs tests/run_checks.

SUB_MAKE = @+$(MAKE) --no-print-directory $(if $(findstring jobserver,$(MAKEFLAGS)),,-j$(JOBS))
RELEASE_BUILD := $(BUILD_ROOT)/release

.PHONY: deps
deps:  ## install the Debian packages for building, testing and linting
	@tests/deps

# DEPS=: where the packages are there, whatever their names (in a root of tests/root)
DEPS ?= tests/deps

# check_suites: the test programs' variant, the products' variant, the suites
define check_suites
	@$(DEPS) build check $(if $(filter slurm,$(3)),torch) $(if $(filter kubernetes,$(3)),kubernetes)
	$(SUB_MAKE) VARIANT=$(2) all
	$(if $(filter-out slurm kubernetes golden,$(3)),$(SUB_MAKE) VARIANT=$(1) test-programs)
	$(SUB_MAKE) VARIANT=$(1) run-checks PRODUCTS_BUILD=$(BUILD_ROOT)/$(2) SUITES='$(3)'
endef

.PHONY: run-checks
run-checks:
	@exec env PARPLAN_BUILD='$(PRODUCTS_BUILD)' UNIT_PROGRAMS='$(UNIT_PROGRAMS)' JOBS='$(JOBS)' \
	PROPERTY_PROGRAMS='$(PROPERTY_PROGRAMS)' CORPUS_PROGRAMS='$(CORPUS_PROGRAMS)' \
	tests/run_checks $(SUITES)

.PHONY: run-mutations
run-mutations:
	@exec env HWLOC_MUTATIONS=0 $(BUILD)/tests/corpus/hwloc_mutations_test

.PHONY: check check-fast check-unit check-golden check-property check-torture check-slurm \
	check-kubernetes check-corpus check-asan check-suites check-root check-mutations
check:  ## build, then run every suite
	$(call check_suites,debug,release,unit golden property torture slurm kubernetes corpus)
check-fast:  ## unit and golden
	$(call check_suites,debug,release,unit golden)
check-unit:  ## one program for each file of ours
	$(call check_suites,debug,release,unit)
check-golden:  ## tests/suites: commands and what they print
	$(call check_suites,debug,release,golden)
check-property:  ## laws over generated input
	$(call check_suites,debug,release,property)
check-torture:  ## the unit programs again, with every allocation failing once
	$(call check_suites,debug,release,torture)
check-slurm:  ## a private Slurm on this machine, with the plugin
	$(call check_suites,debug,release,slurm)
check-kubernetes:  ## a private Kubernetes control plane on this machine, with the extender
	$(call check_suites,debug,release,kubernetes)
check-corpus:  ## real machines' files from ../shared, where it is
	$(call check_suites,debug,release,corpus)
check-mutations:  ## all 170,000 ways of damage to the hwloc files of ../shared: 20 to 30 minutes
	@$(DEPS) build check
	$(SUB_MAKE) VARIANT=debug test-programs
	$(SUB_MAKE) VARIANT=debug run-mutations
check-asan:  ## unit, golden, property and torture under ASan and UBSan
	$(call check_suites,asan,asan,unit golden property torture)
check-suites:
	$(call check_suites,debug,release,$(SUITES))

# Another Debian generation's compiler, hwloc and Slurm, in a root of its own (tests/root).
ROOT ?= trixie
ROOT_SUITES ?= unit golden property slurm corpus
check-root:  ## unit, golden, property, slurm, corpus in a Debian root: ROOT=trixie or sid
	@tests/root $(ROOT) run make --no-print-directory BUILD_ROOT=/parplan/build DEPS=: \
		JOBS='$(JOBS)' SUITES='$(ROOT_SUITES)' check-suites

.PHONY: fuzz
fuzz:  ## each fuzz target for FUZZ_SECONDS=60
	@tests/deps build fuzz
	$(SUB_MAKE) VARIANT=fuzz CC=$(CLANG) fuzz-programs
	$(SUB_MAKE) VARIANT=fuzz CC=$(CLANG) run-fuzz

.PHONY: run-fuzz
run-fuzz:
	@exec env FUZZ_SECONDS='$(FUZZ_SECONDS)' JOBS='$(JOBS)' tests/fuzz/run $(FUZZ_PROGRAMS)

.PHONY: bench
bench:  ## the benchmarks, in the release variant
	@tests/deps build check
	$(SUB_MAKE) VARIANT=release all bench-programs
	$(SUB_MAKE) VARIANT=release run-bench

.PHONY: bench-instructions
bench-instructions:  ## instructions of one map, by callgrind (valgrind)
	@$(DEPS) build
	$(SUB_MAKE) VARIANT=release bench-programs
	tests/bench/instructions

.PHONY: bench-launch
bench-launch:  ## what the plugin adds to a launch, on a private Slurm (minutes)
	@tests/deps build check
	$(SUB_MAKE) VARIANT=release all
	tests/bench/spank_launch

.PHONY: bench-kubernetes
bench-kubernetes:  ## 5,000 nodes and 50,000 pods: what the extender takes, and gangs of 64 and 1,000 pods (15 minutes)
	@tests/deps build check kubernetes
	@tests/kubernetes/binaries
	$(SUB_MAKE) VARIANT=release all bench-programs
	tests/bench/kubernetes_gang

.PHONY: run-bench
run-bench:
	@for program in $(BENCH_PROGRAMS); do echo "== $${program##*/}"; $$program || exit 1; done

.PHONY: coverage
coverage:  ## share of lines of common/ that the tests reach
	@tests/deps build check coverage
	@mkdir -p $(BUILD_ROOT)/coverage/html
	$(SUB_MAKE) VARIANT=coverage all test-programs
	@find $(BUILD_ROOT)/coverage -name '*.gcda' -delete
	@+status=0; $(MAKE) --no-print-directory VARIANT=coverage run-checks \
		PRODUCTS_BUILD=$(BUILD_ROOT)/coverage SUITES='unit golden property torture' || status=1; \
	cd $(BUILD_ROOT)/coverage && gcovr --root '$(CURDIR)' --filter '$(CURDIR)/common/' \
		--object-directory . --gcov-ignore-parse-errors --exclude-unreachable-branches \
		--txt coverage.txt --html-details html/index.html --json-summary coverage.json -j $(JOBS) && \
	sed -n 's/.*"line_percent": \([0-9.]*\),.*/\1/p' coverage.json | \
	xargs printf 'lines of common/ reached: %s %%\n' && exit $$status

.PHONY: demo
demo:  ## parplan on a private Slurm on this machine, explained step by step
	@tests/deps build demo
	$(SUB_MAKE) VARIANT=release all
	@exec env PARPLAN_BUILD='$(abspath $(RELEASE_BUILD))' tests/slurm/demo

.PHONY: demo-kubernetes
demo-kubernetes:  ## the extender on a private Kubernetes on this machine, explained step by step
	@tests/deps build demo kubernetes
	@tests/kubernetes/binaries
	$(SUB_MAKE) VARIANT=release all
	@exec env PARPLAN_BUILD='$(abspath $(RELEASE_BUILD))' tests/kubernetes/demo

.PHONY: pictures
pictures:  ## docs/pictures again, from the presets
	$(SUB_MAKE) VARIANT=release $(RELEASE_BUILD)/parplan
	$(RELEASE_BUILD)/parplan topology --node dgx-h100 --format svg > docs/pictures/dgx-h100.svg
	$(RELEASE_BUILD)/parplan topology --cluster dgx-h100:64 --format svg > docs/pictures/cluster.svg
	$(RELEASE_BUILD)/parplan map --plan tp=8,pp=4,dp=2 --cluster dgx-h100:8 --format svg \
		> docs/pictures/map-one-leaf.svg
	cd docs/pictures && '$(abspath $(RELEASE_BUILD))/parplan' map --plan tp=8,pp=4,dp=4 \
		--cluster uneven-leaves.yaml --format svg > map-uneven-leaves.svg

.PHONY: lint format tidy
lint:  ## warnings as errors with gcc and clang, format, analysis, layers, sizes, texts
	@tests/deps build lint
	@BUILD_ROOT='$(BUILD_ROOT)' JOBS='$(JOBS)' tests/lint/run

format:  ## clang-format every C file in place
	@tests/lint/files c | xargs -r $(CLANG_FORMAT) -i

# clang-tidy of the product, again only for files that changed or include one that did.
tidy: $(patsubst %.c,$(BUILD)/tidy/%.ok,$(filter-out tests/%,$(filter %.c,$(LISTED))))
$(BUILD)/tidy/%.ok: $(BUILD)/objects/%.o .clang-tidy
	@mkdir -p $(@D)
	@$(CLANG_TIDY) --quiet --warnings-as-errors='*' $*.c -- $(OUR_CPPFLAGS) $(CPPFLAGS) \
		$(filter-out -fno-semantic-interposition,$(OUR_CFLAGS)) 2> $@.log || \
		{ cat $@.log; exit 1; }
	@touch $@

# --- install -----------------------------------------------------------------------
# Nothing of Slurm's own configuration is touched: the plugin is loaded once its line
# (share/parplan/zz-parplan.conf) stands in plugstack.conf or its folder.

PLUGSTACK := spank_plugin/zz-parplan.conf
NODE_CACHE_UNIT := manifests/slurm/parplan-node-cache.service
CONFIG_EXAMPLE := manifests/slurm/parplan.yaml
GUIDES := docs/admin-guide.md docs/files.md docs/kubernetes.md docs/slurm.md docs/user-guide.md
PLUGINS := $(filter %.so,$(PRODUCTS))
KUBERNETES_PROGRAMS := $(filter %/parplan-extender %/parplan-node-agent,$(PRODUCTS))
INSTALLED = '$(bindir)/parplan' $(foreach program,$(KUBERNETES_PROGRAMS),'$(bindir)/$(notdir $(program))') $(foreach plugin,$(PLUGINS),'$(spankdir)/$(notdir $(plugin))') \
	'$(datadir)/parplan' '$(docdir)' '$(unitdir)/$(notdir $(NODE_CACHE_UNIT))' \
	$(foreach page,$(MAN_PAGES),'$(mandir)/man$(subst .,,$(suffix $(page)))/$(notdir $(page))')

.PHONY: install install-files uninstall deb dist
install: all  ## program, plugins, man pages… into DESTDIR; prefix=/usr/local, spankdir=prefix/lib/slurm
	@$(MAKE) --no-print-directory install-files

# What is built already, as it is.
install-files:
	$(INSTALL) -d '$(DESTDIR)$(bindir)' '$(DESTDIR)$(spankdir)' '$(DESTDIR)$(datadir)/parplan/data' \
		'$(DESTDIR)$(unitdir)' '$(DESTDIR)$(docdir)'
	$(INSTALL) -m 755 $(BUILD)/parplan $(KUBERNETES_PROGRAMS) '$(DESTDIR)$(bindir)/'
	$(INSTALL) -m 644 $(PLUGINS) '$(DESTDIR)$(spankdir)/'
	$(INSTALL) -m 644 $(DATA_FILES) $(filter common/planner/%,$(PROGRAM_DATA_FILES)) '$(DESTDIR)$(datadir)/parplan/data/'
	sed '/^[^#]/s|spank_parplan\.so|$(spankdir)/spank_parplan.so|' $(PLUGSTACK) \
		> '$(DESTDIR)$(datadir)/parplan/zz-parplan.conf'
	sed 's|@bindir@|$(bindir)|' $(NODE_CACHE_UNIT) > '$(DESTDIR)$(unitdir)/$(notdir $(NODE_CACHE_UNIT))'
	$(INSTALL) -m 644 $(CONFIG_EXAMPLE) '$(DESTDIR)$(datadir)/parplan/parplan.yaml'
	$(INSTALL) -m 644 $(GUIDES) '$(DESTDIR)$(docdir)/'
	for page in $(MAN_PAGES); do \
		folder='$(DESTDIR)$(mandir)'/man$${page##*.}; \
		$(INSTALL) -d "$$folder" && $(INSTALL) -m 644 $$page "$$folder/" || exit 1; \
	done

uninstall:  ## removes them, with the same variables
	cd '$(or $(DESTDIR),/)' && rm -rf $(patsubst '/%,'./%,$(INSTALLED))

deb: all  ## Debian packages for the Slurm whose headers are installed, under build/
	@$(DEPS) package
	@CC='$(CC)' manifests/debian/build $(BUILD) $(VERSION) $(BUILD_ROOT)

dist:  ## a source archive of the last commit, under build/
	@mkdir -p $(BUILD_ROOT)
	git archive --prefix=parplan-$(VERSION)/ -o $(BUILD_ROOT)/parplan-$(VERSION).tar.gz HEAD

.PHONY: list
list:
	@printf '%s\n' $(LISTED)

# --- the rest ----------------------------------------------------------------------

.PHONY: clean
clean:  ## remove everything that was built
	rm -rf $(BUILD_ROOT)

.PHONY: help
help:  ## this list; variables: VARIANT=release,debug,asan,tsan,coverage CC CFLAGS BUILD_ROOT V=1
	@sed -n 's/^\([a-z-]*\):.*  ## /\1|/p' Makefile | awk -F'|' '{printf "  %-16s %s\n", $$1, $$2}'

-include $(shell find $(BUILD) -name '*.d' 2>/dev/null)
