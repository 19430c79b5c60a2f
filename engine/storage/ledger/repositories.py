"""The ledger's repositories: which SQL function implements which method, and whether it reads or writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.storage.ledger import cache, corrections, facts, names, profiles
from engine.storage.ledger.content import amendments, correction_changes, documents, open_vectors
from engine.storage.ledger.full_text import update
from engine.storage.ledger.joins import candidates, refresh
from engine.storage.ledger.queries import dates, filters, graph, lookup, passages, stats, tie_order, walk
from engine.storage.ledger.records.query_results import LoadedScope
from engine.storage.ledger.work import batch, claims, embedding_failures, extraction_claims, stale_keys, work_queue
from engine.storage.sql.repository import InSnapshot, InTransaction, Repository

if TYPE_CHECKING:
    from engine.models import Filters, Scope
    from engine.storage.ledger.records.query_results import DocumentInfo, DocumentStatus, IndexStatus
    from engine.storage.sql.connection import Connection


class SqlDocuments(Repository):
    """Documents with their passages, chunks and rooms."""

    load = InSnapshot(documents.load_document)
    save = InTransaction(documents.upsert_document)
    save_manual = InTransaction(documents.save_manual_document)
    delete = InTransaction(documents.delete_document)
    plan_amendment = InSnapshot(amendments.plan_amendment)
    apply_amendment = InTransaction(amendments.apply_amendment)
    amend = InTransaction(amendments.amend_in_transaction)
    move_room = InTransaction(documents.move_room)
    delete_room = InTransaction(documents.delete_room)


class SqlFacts(Repository):
    """What was extracted from chunks, and which chunks wait for extraction."""

    list_unextracted = InSnapshot(facts.list_unextracted)
    claim_chunks = InTransaction(extraction_claims.claim_chunks)
    release_chunks = InTransaction(extraction_claims.release_chunks)
    has_pending_extraction = InSnapshot(work_queue.has_pending_extraction)
    find_extraction = InSnapshot(facts.find_extraction)
    save_extractions = InTransaction(facts.save_extractions)
    record_extraction_failure = InTransaction(work_queue.record_extraction_failure)


class SqlProfiles(Repository):
    """Merged entities and relations, as they are projected."""

    load_batch = InSnapshot(batch.load_batch)
    save_batch = InTransaction(batch.write_profiles)
    finish_batch = InTransaction(batch.finish_batch)
    load_graph_nodes = InSnapshot(profiles.load_graph_nodes)
    load_weights = InSnapshot(profiles.load_weights)
    record_all_graphed = InTransaction(work_queue.record_all_graphed)
    requeue_due_summaries = InTransaction(work_queue.requeue_due_summaries)
    find_orphans = InSnapshot(batch.find_orphans)
    delete_orphans = InTransaction(batch.delete_orphan_profiles)


class SqlWorkQueue(Repository):
    """Stale keys, chunks to embed, failures, and the settings of the data directory."""

    current_generation = InSnapshot(work_queue.current_generation)
    is_idle = InSnapshot(work_queue.is_idle)
    has_only_held_keys = InSnapshot(work_queue.has_only_held_keys)
    needs_compaction = InSnapshot(work_queue.needs_compaction)
    list_failure_reasons = InSnapshot(embedding_failures.list_failure_reasons)
    count_pending_documents = InSnapshot(work_queue.count_pending_documents)
    resume = InTransaction(work_queue.resume_work)
    retry_documents = InTransaction(work_queue.retry_documents)
    advance_documents = InTransaction(work_queue.advance_documents)
    has_due_keys = InSnapshot(claims.has_due_keys)
    claim_chunks = InTransaction(claims.claim_chunk_keys)
    claim_profiles = InTransaction(claims.claim_profile_keys)
    release_keys = InTransaction(claims.release_keys)
    find_first_stale = InSnapshot(stale_keys.find_first_stale)
    release_held_keys = InTransaction(stale_keys.release_held_keys)
    requeue_keys = InTransaction(work_queue.requeue_keys)
    load_chunks = InSnapshot(work_queue.load_chunks)
    finish_embedding = InTransaction(batch.finish_embedding)
    retry_given_up = InTransaction(work_queue.retry_given_up)
    retry_after_change = InTransaction(work_queue.retry_after_change)
    count_given_up = InSnapshot(work_queue.count_given_up)
    start_reindex = InTransaction(work_queue.start_reindex)
    finish_reindex = InTransaction(work_queue.finish_reindex)
    count_unsegmented = InSnapshot(update.count_unsegmented)
    index_next_batch = InTransaction(update.index_next_batch)
    get_setting = InSnapshot(work_queue.get_setting)
    set_setting = InTransaction(work_queue.set_setting)
    set_embedder = InTransaction(work_queue.set_embedder)


class SqlCache(Repository):
    """Summaries, vectors of texts and answers that need not be made twice, and the usage of models."""

    load_summaries = InSnapshot(cache.load_summaries)
    save_summaries = InTransaction(cache.save_summaries)
    load_vectors = InSnapshot(cache.load_vectors)
    save_vectors = InTransaction(cache.save_vectors)
    load_partial_vectors = InSnapshot(open_vectors.load_partial_vectors)
    save_partial_vectors = InTransaction(open_vectors.save_partial_vectors)
    find_answer = InSnapshot(cache.find_cached_answer)
    save_answer = InTransaction(cache.save_cached_answer)
    touch_answer = InTransaction(cache.touch_cached_answer)
    delete_unused = InTransaction(cache.delete_unused)
    add_usage = InTransaction(cache.add_usage)
    add_indexing_usage = InTransaction(cache.add_indexing_usage)


async def _load_scope(db: Connection, scope: Scope, within: Filters) -> LoadedScope:
    ids = await lookup.resolve_scope(db, scope)
    matching = await filters.resolve_filters(db, within, ids) if within.is_active else None
    return LoadedScope(
        ids, matching, await lookup.count_by_space(db, ids.spaces), await work_queue.current_generation(db)
    )


class SqlSearch(Repository):
    """What a question reads, each within its scope."""

    resolve_scope = InSnapshot(lookup.resolve_scope)
    load_scope = InSnapshot(_load_scope)
    filter_ids = InSnapshot(filters.filter_ids)
    list_matching_ids = InSnapshot(filters.list_matching_ids)
    count_by_space = InSnapshot(lookup.count_by_space)
    search_chunks = InSnapshot(lookup.search_chunks)
    score_passages = InSnapshot(lookup.score_passages)
    find_neighbor_messages = InSnapshot(lookup.find_neighbor_messages)
    search_entities = InSnapshot(lookup.search_entities)
    find_entities_by_name = InSnapshot(lookup.find_entities_by_name)
    find_named_entities = InSnapshot(walk.find_named_entities)
    find_titled_chunks = InSnapshot(walk.find_titled_chunks)
    load_walk_edges = InSnapshot(walk.load_walk_edges)
    find_names_by_prefix = InSnapshot(lookup.find_names_by_prefix)
    find_entities_by_start = InSnapshot(graph.find_entities_by_start)
    list_relations_between = InSnapshot(graph.list_relations_between)
    list_corrections = InSnapshot(graph.list_corrections)
    load_entities = InSnapshot(lookup.load_entities)
    load_relations = InSnapshot(lookup.load_relations)
    load_chunk_texts = InSnapshot(lookup.load_chunk_texts)
    load_sort_keys = InSnapshot(tie_order.load_sort_keys)
    load_recent_facts = InSnapshot(profiles.load_recent_facts)
    load_corrections = InSnapshot(corrections.load_corrections)
    load_space_names = InSnapshot(names.load_space_names)
    find_evidence_chunks = InSnapshot(lookup.find_evidence_chunks)
    find_stating_passages = InSnapshot(passages.find_stating_passages)
    list_latest_chunks = InSnapshot(dates.list_latest_chunks)
    find_latest_time = InSnapshot(dates.find_latest_time)
    list_authors = InSnapshot(passages.list_authors)
    has_excluded_undated = InSnapshot(dates.has_excluded_undated)


async def _load_index_status(db: Connection, scope: Scope) -> IndexStatus:
    return await stats.load_index_status(db, await lookup.resolve_scope(db, scope))


async def _load_document_status(db: Connection, key: str, scope: Scope) -> DocumentStatus:
    return await stats.load_document_status(db, key, await lookup.resolve_scope(db, scope))


async def _list_documents(db: Connection, scope: Scope) -> list[DocumentInfo]:
    return await stats.list_documents(db, await lookup.resolve_scope(db, scope))


class SqlStats(Repository):
    """Numbers and lists: of a scope, and of the whole ledger to compare graph and vectors with."""

    load_index_status = InSnapshot(_load_index_status)
    load_document_status = InSnapshot(_load_document_status)
    list_documents = InSnapshot(_list_documents)
    list_nodes = InSnapshot(stats.list_nodes)
    list_edges = InSnapshot(stats.list_edges)
    list_last_graphed = InSnapshot(stats.list_last_graphed)
    find_last_chunk_id = InSnapshot(stats.find_last_chunk_id)
    load_expected = InSnapshot(stats.load_expected)
    load_sample = InSnapshot(stats.load_sample)
    list_chunk_vectors = InSnapshot(stats.list_chunk_vectors)
    list_indexing_usage = InSnapshot(stats.list_indexing_usage)


class SqlCorrections(Repository):
    """Corrections by hand."""

    merge = InTransaction(correction_changes.merge)
    unmerge = InTransaction(correction_changes.unmerge)
    separate = InTransaction(correction_changes.separate)
    undo = InTransaction(correction_changes.undo)
    set_automatic_joins = InTransaction(refresh.set_automatic_joins)
    pin_description = InTransaction(correction_changes.describe)
    set_hidden = InTransaction(correction_changes.hide)


class SqlDuplicates(Repository):
    """Entities that may be the same."""

    list_uncompared = InSnapshot(candidates.list_uncompared)
    count_uncompared = InSnapshot(candidates.count_uncompared)
    find_similar_names = InSnapshot(candidates.find_similar_names)
    load_names = InSnapshot(candidates.load_names)
    save_candidates = InTransaction(candidates.save_candidates)
    list_candidates = InSnapshot(candidates.list_candidates)
    list_joined_names = InSnapshot(candidates.list_joined_names)
