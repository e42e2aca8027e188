# A tree that works wherever it is moved: the programs look for the rest beside their own
# bin/ first (ResourceDir.cpp, findCollector()).
install(TARGETS optimas-rewrite optimas-profile RUNTIME DESTINATION bin)
install(TARGETS optimas_collector LIBRARY DESTINATION lib)
install(DIRECTORY ${OPTIMAS_RESOURCE_DIR}/include DESTINATION lib/clang/22)
install(FILES ${PROJECT_SOURCE_DIR}/lib/Frontend/include/optimas_cuda_compat.h
  DESTINATION share/optimas)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION share/doc/optimas-rewrite)
